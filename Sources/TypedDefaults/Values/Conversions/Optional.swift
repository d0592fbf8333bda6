/// A setting of optional type is written as its wrapped value. For nil, the key is removed.
///
/// Inside arrays, dictionaries and other optionals, nil is written as the string `$null`, like in
/// Foundation's `PropertyListEncoder`. To distinguish strings from it, a string of one or more
/// dollar signs and `null` is written there with one more dollar sign: `$null` as `$$null`,
/// `$$null` as `$$$null`.
extension PropertyList {
    /// The form of nil where it cannot be left out.
    static let nilMarker = PropertyList.string("$null")

    var isNilMarker: Bool {
        guard case .string(let string) = self else { return false }
        return string.utf8.count == 5 && string.isNullBehind(dollars: 1)
    }

    /// The form of the value where a nil could be.
    var escapedFromNil: PropertyList {
        guard case .string(let string) = self, string.isNullBehind(dollars: 1) else { return self }
        return .string("$" + string)
    }

    /// The value of an escaped form. A `$null` is left as it is, because a type that reads a string
    /// there expects that string.
    var unescapedFromNil: PropertyList {
        guard case .string(let string) = self, string.isNullBehind(dollars: 2) else { return self }
        return .string(String(string.dropFirst()))
    }
}

extension String {
    /// Returns whether the string is at least that many dollar signs and `null`.
    fileprivate func isNullBehind(dollars: Int) -> Bool {
        guard utf8.first == UInt8(ascii: "$") else { return false }
        let rest = utf8.drop { $0 == UInt8(ascii: "$") }
        return rest.elementsEqual("null".utf8) && utf8.count - rest.count >= dollars
    }
}

/// The optional types, with their wrapped type, for a cast at run time.
protocol AnyOptional {
    static var wrappedType: Any.Type { get }
    var isNil: Bool { get }
}

extension Optional: AnyOptional {
    static var wrappedType: Any.Type { Wrapped.self }
    var isNil: Bool { self == nil }
}

/// Returns the wrapped type of an optional, or the type itself.
func unwrapped(_ type: Any.Type) -> Any.Type { (type as? any AnyOptional.Type)?.wrappedType ?? type }
