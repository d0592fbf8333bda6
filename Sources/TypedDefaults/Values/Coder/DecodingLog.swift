/// Records what happens while a value is decoded: the types that the last error passed through.
final class DecodingLog {
    /// Whether the value reads data as such, so that it is not JSON or a property list.
    private(set) var readsData = false
    /// The types that the last error passed through, from the innermost outwards.
    private(set) var failures: [(path: [any CodingKey], type: Any.Type)] = []
    private var text = ""

    func noteData() { readsData = true }

    /// Records that a type throws an error: its own, or one that it passes on.
    ///
    /// An error that a type catches does not count, because such a type tries several types in
    /// turn.
    func noteFailure(of type: Any.Type, at path: [any CodingKey], _ error: any Error) {
        let new = Self.text(of: error)
        let isSame = new == text && failures.last?.path.map(\.stringValue).starts(with: path.map(\.stringValue)) == true
        if !isSame { failures = [] }
        failures.append((path, type))
        text = new
    }

    private static func text(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return String(reflecting: type(of: error)) }
        return "\(error.keys.map(\.stringValue)) \(error.context?.debugDescription ?? "")"
    }

    /// Returns the path of the part at fault, and whether it is missing.
    func fault(of error: any Error, in tree: PropertyList) -> (path: [any CodingKey], isMissing: Bool) {
        let innermost = failures.first?.path ?? []
        // An error of another decoder, such as one that reads JSON in a string, has a path of its
        // own.
        guard let error = error as? DecodingError,
            error.keys.map(\.stringValue).starts(with: innermost.map(\.stringValue))
        else { return (innermost, false) }
        switch error {
        case .keyNotFound: return (error.keys, true)
        case .valueNotFound: return (error.keys, tree.part(at: error.keys.map(\.stringValue)[...]).isNilMarker)
        default: return (error.keys, false)
        }
    }

    /// Returns the part at a path from the default of the innermost config around it.
    func defaultPart(at path: [String]) -> PropertyList? {
        for (outer, type) in failures where !outer.isEmpty && outer.count <= path.count {
            guard let config = type as? any DefaultConfig.Type, path.starts(with: outer.map(\.stringValue)) else {
                continue
            }
            return config.defaults.tree?.entry(at: path[outer.count...])
        }
        return nil
    }

    /// Returns the outermost list or dictionary around a part.
    func collection(
        around part: [any CodingKey]
    ) -> (path: [any CodingKey], type: any StandardCollection.Type)? {
        let names = part.map(\.stringValue)
        for (path, type) in failures.reversed() where path.count < names.count {
            if let type = type as? any StandardCollection.Type, names.starts(with: path.map(\.stringValue)) {
                return (path, type)
            }
        }
        return nil
    }
}

extension DecodingError {
    fileprivate var context: Context? {
        switch self {
        case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }

    /// The path of the part at fault.
    fileprivate var keys: [any CodingKey] {
        if case .keyNotFound(let key, let context) = self { return context.codingPath + [key] }
        return context?.codingPath ?? []
    }
}
