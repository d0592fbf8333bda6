#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList {
    /// Creates a property list from an object such as `["cameraRoll": true, "size": 0] as [String:
    /// Any]`.
    ///
    /// Accepts `Bool`, all integers from `Int64.min` to `UInt64.max`, `Float`, `Double`, `String`,
    /// `Data`, `Date`, arrays, and dictionaries with `String` keys, on Apple platforms their
    /// bridged Foundation classes, and `PropertyList` itself at any depth. An optional is converted
    /// as its wrapped value.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/refused`` that names the
    ///   offending type and the path to it, which includes the keys of dictionaries.
    public init(_ object: Any) throws(DefaultsError) {
        var path: [String] = []
        self = try Self.converting(object, path: &path)
    }

    private static func converting(_ object: Any, path: inout [String]) throws(DefaultsError) -> PropertyList {
        // A separate function, because the casts would use stack space at each level.
        if let scalar = try converting(scalar: object, path: path) { return scalar }
        if let value = object as? [Any] {
            try check(path.count < depthLimit, path)
            var elements: [PropertyList] = []
            elements.reserveCapacity(value.count)
            for (index, element) in value.enumerated() {
                path.append(String(index))
                elements.append(try converting(element, path: &path))
                path.removeLast()
            }
            return .array(elements)
        }
        if let value = object as? [String: Any] {
            try check(path.count < depthLimit, path)
            var entries: [String: PropertyList] = Dictionary(minimumCapacity: value.count)
            for (key, element) in value {
                path.append(key)
                entries[key] = try converting(element, path: &path)
                path.removeLast()
            }
            return .dictionary(entries)
        }
        throw .refused(path: path, type: type(of: object), "a property list cannot hold this type")
    }

    private static func converting(scalar object: Any, path: [String]) throws(DefaultsError) -> PropertyList? {
        // Before the casts, because several of them would accept a bridged number.
        if let number = foundationNumber(object) { return number }
        switch object {
        case let value as PropertyList:
            try check(!value.isNested(deeperThan: depthLimit - path.count), path)
            return value
        case let value as String: return .string(value)
        case let value as Bool: return .bool(value)
        case let value as Int: return .integer(Int64(value))
        case let value as Double: return .double(value)
        case let value as Float: return value.propertyList
        case let value as Data: return .data(value)
        case let value as Date: return .date(value)
        case let value as any FixedWidthInteger:
            guard let integer = PropertyList(exactly: value) else {
                throw .refused(path: path, type: type(of: object), DefaultsError.wideInteger)
            }
            return integer
        case let error as DefaultsError:
            // The default `serialize()` returns an error for a value that cannot be encoded.
            throw error
        default: return nil
        }
    }

    private static func check(_ fits: Bool, _ path: [String]) throws(DefaultsError) {
        guard fits else { throw .refused(path: path, tooDeep) }
    }

    /// Returns the part at a path of dictionary keys and array indices, or the last part that
    /// exists along the path, because the path of an error does not name all keys.
    func part(at path: ArraySlice<String>) -> PropertyList {
        guard let name = path.first else { return self }
        let part: PropertyList? =
            switch self {
            case .array(let value): Int(name).flatMap { value.indices.contains($0) ? value[$0] : nil }
            case .dictionary(let value): value[name]
            default: nil
            }
        return part?.part(at: path.dropFirst()) ?? self
    }

    func isNested(deeperThan levels: Int) -> Bool {
        switch self {
        case .array(let value): levels == 0 || value.contains { $0.isNested(deeperThan: levels - 1) }
        case .dictionary(let value): levels == 0 || value.values.contains { $0.isNested(deeperThan: levels - 1) }
        default: false
        }
    }

    /// The value as Swift objects: `Bool`, `Int` (`Int64` or `UInt64` where it does not fit),
    /// `Double`, `String`, `Data`, `Date`, `[Any]` and `[String: Any]`.
    ///
    /// A Swift number in an `Any` casts to its own type only, so read a `Float` back as
    /// `(dict["volume"] as? Double).map(Float.init)`.
    public var object: Any {
        switch self {
        case .bool(let value): value
        // `Int` has 32 bits on some watches.
        case .integer(let value): Int(exactly: value) ?? value as Any
        case .unsigned(let value): Int(exactly: value) ?? value as Any
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .array(let value): value.map(\.object)
        case .dictionary(let value): value.mapValues(\.object)
        }
    }
}

extension DefaultsError {
    static func refused(path: [String], type: Any.Type? = nil, _ reason: String) -> DefaultsError {
        DefaultsError(.refused, type: type.map { "\($0)" }, path: path, reason: reason)
    }
}
