// Errors of `Codable` quote stored values in their text, so only their type and path are used.
// Errors of this library's own coder are their underlying errors.
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
