/// One attempt to decode a value. All decoders of the value share it and record there what happens.
final class DecodingAttempt {
    private(set) var rules: DecodingRules
    /// Whether the value reads data as such, so that it is not JSON or a property list.
    private(set) var readsData = false
    /// Whether the type reads the root as a dictionary, and has none of its entries.
    var isUnread: Bool { isDictionary && !hasKnownEntry }
    private var (isDictionary, hasKnownEntry) = (false, false)
    /// The types that the last error passed through, from the innermost outwards.
    private(set) var failures: [(path: [any CodingKey], type: Any.Type)] = []
    /// The type of the last error, and its place.
    private var lastError: (type: any Error.Type, place: [String])?

    init(_ rules: DecodingRules) { (self.rules, hasKnownEntry) = (rules, rules.hasKnownEntry) }

    func decode<Value: Decodable>(_ type: Value.Type = Value.self, from tree: PropertyList) throws -> Value {
        let decoder = TreeDecoder(self, tree, valueType: type)
        return try decoder.value(type, from: tree, key: nil, isNil: tree.isNilMarker, elseFrom: decoder)
    }

    func noteData() { readsData = true }

    /// Records parts that were taken from the default.
    func noteDefaults(_ paths: Set<[String]>, in path: [any CodingKey]) {
        let path = path.map(\.stringValue)
        rules.defaultPaths.formUnion(paths.map { path + $0 })
    }

    /// Records that a type reads the whole root, or the tree at a path, as it is.
    func noteTree(at path: @autoclosure () -> [any CodingKey]) {
        hasKnownEntry = true
        rules.faults?.note([], at: path())
    }

    /// Records that a type reads a dictionary by its keys.
    func noteEntries<Key: CodingKey>(
        _ entries: [String: PropertyList], _ type: Key.Type, isRoot: Bool, at path: @autoclosure () -> [any CodingKey]
    ) {
        // The entry of a superclass is read by a key of its own.
        func isKnown(_ name: String) -> Bool { Key(stringValue: name) != nil || name == SuperKey().stringValue }
        if isRoot, !hasKnownEntry {
            let filled = rules.defaultPaths
            let stored = entries.keys.lazy.filter { filled.isEmpty || !filled.contains([$0]) }
            if !stored.isEmpty { isDictionary = true }
            hasKnownEntry = stored.contains(where: isKnown)
        }
        guard let list = rules.faults else { return }
        // Keys that are data, of which the type accepts some, are not names of properties.
        let isData = entries.keys.lazy.compactMap(Key.init(stringValue:)).first?.isData == true
        list.note(entries.keys.filter { !isKnown($0) }, areData: isData, at: path())
    }

    /// Records that a type throws an error: its own, or one that it passes on.
    ///
    /// An error that a type catches does not count, because such a type tries several types in
    /// turn.
    func noteFailure(of type: Any.Type, at path: [any CodingKey], _ error: any Error) {
        let place = (error as? DecodingError)?.keys.map(\.stringValue) ?? []
        let isSame = lastError.map { $0.type == Swift.type(of: error) && $0.place == place } == true
        if !isSame || failures.last?.path.map(\.stringValue).starts(with: path.map(\.stringValue)) != true {
            failures = []
        }
        failures.append((path, type))
        lastError = (Swift.type(of: error), place)
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
