/// Records what happens while a value is decoded: the entries that no type reads, and the types
/// that the last error passed through.
final class DecodingLog {
    /// Whether the value reads data as such, so that it is not JSON or a property list.
    private(set) var readsData = false
    private(set) var unknown: [[String]: Set<String>] = [:]
    /// The types that the last error passed through, from the innermost outwards.
    private(set) var failures: [(path: [any CodingKey], type: Any.Type)] = []
    private var text = ""

    func noteData() { readsData = true }

    /// Records the entries of a dictionary that a container does not know. If several containers
    /// read the same dictionary, only the entries that none of them knows remain.
    func noteUnknown(_ names: Set<String>, at path: [any CodingKey]) {
        let path = path.map(\.stringValue)
        unknown[path] = unknown[path]?.intersection(names) ?? names
    }

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
    func fault(of error: any Error) -> (path: [any CodingKey], isMissing: Bool) {
        let innermost = failures.first?.path ?? []
        // An error of another decoder, such as one that reads JSON in a string, has a path of its
        // own.
        guard let error = error as? DecodingError,
            error.keys.map(\.stringValue).starts(with: innermost.map(\.stringValue))
        else { return (innermost, false) }
        if case .keyNotFound = error { return (error.keys, true) }
        return (error.keys, false)
    }

    /// Returns the part at a path from the default of the innermost config around it.
    func defaultPart(at path: [String]) -> PropertyList? {
        for (outer, type) in failures where !outer.isEmpty && outer.count <= path.count {
            guard let config = type as? any DefaultConfig.Type, path.starts(with: outer.map(\.stringValue)) else {
                continue
            }
            return config.defaultTree?.entry(at: path[outer.count...])
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

    /// Adds the entries that no type has a key for.
    ///
    /// Elements of an array have no identity, so an array with such entries is treated as one part,
    /// which a write keeps if it does not change the array.
    ///
    /// - Parameters:
    ///   - recovery: Receives the entries, and the arrays that contain its unreadable parts.
    ///   - encoded: Returns the decoded value as it would be stored; `nil` if that fails.
    func addUnknownEntries(
        of stored: PropertyList, to recovery: inout DecodingRecovery, encoded: () -> PropertyList?
    ) {
        var arrays = recovery.arrays
        for (path, names) in unknown where !names.isEmpty {
            if let array = stored.outermostArray(around: path) {
                arrays.insert(array)
            } else {
                for path in names.map({ path + [$0] }) {
                    guard let entry = stored.entry(at: path[...]) else { continue }
                    recovery.entries.append(.init(path: path, stored: entry, replacement: nil, isFault: false))
                }
            }
        }
        guard !arrays.isEmpty else { return }
        let encoded = encoded()
        for path in arrays {
            let isFault = recovery.arrays.contains(path)
            guard let array = stored.entry(at: path[...]), let replacement = encoded?.entry(at: path[...]) else {
                recovery.losesParts = recovery.losesParts || isFault
                continue
            }
            recovery.entries.append(.init(path: path, stored: array, replacement: replacement, isFault: isFault))
        }
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

extension DefaultConfig {
    /// The default in its stored form.
    static var defaultTree: PropertyList? { try? Conversion.encodingByCodable(defaultInstance) }
}
