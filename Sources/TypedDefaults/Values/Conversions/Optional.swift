/// A setting of optional type is written as what it holds; nil is written by removing the key.
///
/// Inside arrays, dictionaries and other optionals, where nothing can be removed, nil is written as the string `$null`, as
/// Foundation's `PropertyListEncoder` does. So that no string collides with it, a string there of one or more dollar signs
/// and `null` is written with one more dollar sign: `$null` as `$$null`, `$$null` as `$$$null`.
extension PropertyList {
    /// What stands for nil where it cannot be left out.
    static let nilMarker = PropertyList.string("$null")

    var isNilMarker: Bool {
        guard case .string(let string) = self else { return false }
        return string.utf8.count == 5 && string.isNullBehind(dollars: 1)
    }

    /// The value as it is written beside values that may be nil.
    var escapedFromNil: PropertyList {
        guard case .string(let string) = self, string.isNullBehind(dollars: 1) else { return self }
        return .string("$" + string)
    }

    /// The value that was written escaped. A lone `$null` is left as it is: whoever asks for a string there means the string.
    var unescapedFromNil: PropertyList {
        guard case .string(let string) = self, string.isNullBehind(dollars: 2) else { return self }
        return .string(String(string.dropFirst()))
    }
}

extension String {
    /// Whether the string is at least that many dollar signs, then `null`.
    fileprivate func isNullBehind(dollars: Int) -> Bool {
        guard utf8.first == UInt8(ascii: "$") else { return false }
        let rest = utf8.drop { $0 == UInt8(ascii: "$") }
        return rest.elementsEqual("null".utf8) && utf8.count - rest.count >= dollars
    }
}

/// What tells at run time that a type is an optional, and of what.
protocol AnyOptional {
    static var wrappedType: Any.Type { get }
}

extension Optional: AnyOptional {
    static var wrappedType: Any.Type { Wrapped.self }
}
