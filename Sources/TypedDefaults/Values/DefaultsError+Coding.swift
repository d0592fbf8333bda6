// Errors of `Codable` quote stored values in their text, so only their type and path are used.
// Errors of this library's own coder are their underlying errors.
extension DefaultsError {
    /// The reason for an error about `Int128` or `UInt128`.
    static let wideInteger = "an integer of more than 64 bits; use Decimal or String"

    init(encoding type: Any.Type, _ error: any Error) {
        if case EncodingError.invalidValue(let value, let context) = error {
            let other = value is any FixedWidthInteger ? Self.wideInteger : "the value cannot be encoded"
            let reason = (context.underlyingError as? DefaultsError)?.reason ?? other
            self.init(.refused, type: "\(type)", path: context.codingPath.map(\.nameInErrors), reason: reason)
        } else if let error = error as? DefaultsError {
            self = error
        } else {
            self.init(.refused, type: "\(type)", reason: "encode(to:) threw \(Swift.type(of: error))")
        }
    }

    /// Returns what helps if a property is missing, as text to append; empty for other errors.
    static func remedy(_ error: any Error, of type: Any.Type?) -> String {
        guard case DecodingError.keyNotFound = error else { return "" }
        return "; to keep it, make \(type.map { "\($0)" } ?? "its type") a DefaultConfig, or the property optional"
    }

    init(decoding type: Any.Type, _ error: any Error) {
        guard let error = error as? DecodingError else {
            self.init(.unreadable, type: "\(type)", reason: "init(from:) threw \(Swift.type(of: error))")
            return
        }
        let (context, reason) =
            switch error {
            case .typeMismatch(let type as any FixedWidthInteger.Type, let context) where NativeTypes[type] == nil:
                (context, Self.wideInteger)
            case .typeMismatch(_, let context): (context, "the stored value is not of the declared type")
            case .valueNotFound(_, let context): (context, "nothing is stored here")
            case .keyNotFound(let key, let context): (context, "“\(key.nameInErrors)” is missing")
            case .dataCorrupted(let context): (context, "the stored value is not valid for the type")
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "it cannot be decoded")
            }
        self.init(
            .unreadable, type: "\(type)", path: context.codingPath.map(\.nameInErrors),
            reason: (context.underlyingError as? DefaultsError)?.reason ?? reason)
    }
}
