// Errors of `Codable` quote stored values in their text, so only their type and path are used. What
// this library's own coder reports comes as their underlying error.
extension DefaultsError {
    init(encoding type: Any.Type, _ error: any Error) {
        if case EncodingError.invalidValue(_, let context) = error {
            let reason = (context.underlyingError as? DefaultsError)?.reason ?? "the value cannot be encoded"
            self.init(.refused, type: "\(type)", path: context.codingPath.map(\.nameInErrors), reason: reason)
        } else if let error = error as? DefaultsError {
            self = error
        } else {
            self.init(.refused, type: "\(type)", reason: "encode(to:) threw \(Swift.type(of: error))")
        }
    }

    init(decoding type: Any.Type, _ error: any Error) {
        guard let error = error as? DecodingError else {
            self.init(.unreadable, type: "\(type)", reason: "init(from:) threw \(Swift.type(of: error))")
            return
        }
        let (context, reason) =
            switch error {
            case .typeMismatch(_, let context): (context, "something else than the declared type is stored")
            case .valueNotFound(_, let context): (context, "nothing is stored here")
            case .keyNotFound(let key, let context): (context, "“\(key.nameInErrors)” is missing")
            case .dataCorrupted(let context): (context, "what is stored is not a value of the type")
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "it cannot be decoded")
            }
        self.init(
            .unreadable, type: "\(type)", path: context.codingPath.map(\.nameInErrors),
            reason: (context.underlyingError as? DefaultsError)?.reason ?? reason)
    }
}

extension CodingKey {
    /// Whether the key is data, as those of a dictionary are, and not the name of a property.
    ///
    /// Names are the cases of an enum. A key of another type may hold any text, even if its type
    /// checks the text, and so may an enum that takes any string.
    var isData: Bool {
        if self is SuperKey || self is IndexKey { return false }
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle != .enum || !mirror.children.isEmpty || Self(stringValue: "\0") != nil
    }

    /// The key as it appears in an error: `*` where it is data.
    var nameInErrors: String {
        // Foundation's decoders use one type for the places in arrays and other keys.
        if let intValue, stringValue == "Index \(intValue)" { return "\(intValue)" }
        return isData ? "*" : stringValue
    }
}
