/// The types that the last error went through, from the innermost outwards.
final class DecodingFailures {
    private(set) var all: [(path: [any CodingKey], type: Any.Type)] = []
    private var text = ""

    /// Notes that a type throws an error: its own one, or one that it has met.
    ///
    /// An error that a type has caught is none: such a type tries several types in turn.
    func append(_ path: [any CodingKey], _ type: Any.Type, _ error: any Error) {
        let new = Self.text(of: error)
        let isSame = new == text && all.last?.path.map(\.stringValue).starts(with: path.map(\.stringValue)) == true
        if !isSame { all = [] }
        all.append((path, type))
        text = new
    }

    private static func text(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return String(reflecting: type(of: error)) }
        let (path, context) = keys(of: error)
        return "\(path.map(\.stringValue)) \(context?.debugDescription ?? "")"
    }

    private static func keys(of error: DecodingError) -> ([any CodingKey], DecodingError.Context?) {
        switch error {
        case .keyNotFound(let key, let context): return (context.codingPath + [key], context)
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            return (context.codingPath, context)
        @unknown default: return ([], nil)
        }
    }

    /// Returns the path of the part at fault, and whether it is missing.
    func path(of error: any Error) -> (path: [any CodingKey], isMissing: Bool) {
        let innermost = all.first?.path ?? []
        guard let error = error as? DecodingError else { return (innermost, false) }
        let keys = Self.keys(of: error).0
        // An error of another decoder, such as one that reads JSON in a string, has a path of its
        // own.
        guard keys.map(\.stringValue).starts(with: innermost.map(\.stringValue)) else { return (innermost, false) }
        if case .keyNotFound = error { return (keys, true) }
        return (keys, false)
    }

    /// Returns the part at a path from the default of the innermost config around it.
    func defaultPart(at path: [String]) -> PropertyList? {
        for (outer, type) in all where !outer.isEmpty && outer.count <= path.count {
            guard let config = type as? any DefaultConfig.Type, path.starts(with: outer.map(\.stringValue)) else {
                continue
            }
            return config.defaultTree?[path[outer.count...]]
        }
        return nil
    }
}

extension DefaultConfig {
    /// The default in its stored form.
    static var defaultTree: PropertyList? { try? Conversion.encodingByCodable(defaultInstance) }
}

/// A collection whose elements are of one type.
protocol PartCollection {
    static var partType: Any.Type { get }
}
extension Dictionary: PartCollection {
    static var partType: Any.Type { Value.self }
}

/// A collection that stays valid without one of its elements, unlike a pair or a dictionary that is
/// written as an array.
protocol ElementList: PartCollection {}
extension Array: ElementList {
    static var partType: Any.Type { Element.self }
}
extension ContiguousArray: ElementList {
    static var partType: Any.Type { Element.self }
}
extension Set: ElementList {
    static var partType: Any.Type { Element.self }
}
