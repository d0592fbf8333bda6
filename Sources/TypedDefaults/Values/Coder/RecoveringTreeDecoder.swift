/// Decodes a value of which some parts cannot be read. Takes these parts from the default, or
/// leaves them out.
///
/// Each round decodes the value, replaces the part at fault in the tree, and begins again. A list
/// or a dictionary with a part at fault takes one round, element by element, because it may have
/// thousands of them.
private struct RecoveringTreeDecoder<Value: Decodable> {
    /// The stored value, and what is left of it.
    let stored: PropertyList
    private(set) var tree: PropertyList
    /// Whether Foundation's coders wrote the tree.
    let isFoundation: Bool
    /// The default in its stored form; `nil` if there is none.
    let defaultTree: PropertyList?
    /// Whether to replace unreadable parts, and not only to fill in missing ones.
    let isTolerant: Bool
    let unknown: UnknownEntries?
    /// The replaced paths of dictionaries, in their order.
    private(set) var recovered: [(path: [String], placed: PropertyList?)] = []
    private(set) var faults: [(path: [String], error: DefaultsError)] = []
    /// Whether something at fault is not in `recovered`, such as an element of an array.
    private(set) var hasOtherFaults = false
    /// The parts that are not stored in the form of their type. All others are read strictly, so
    /// that a fault changes nothing else: see ``StoredValueDecoder/Root/isStrict``.
    private(set) var lenientPaths: Set<[String]> = []
    /// The lists and dictionaries whose parts were decoded one by one.
    private var recoveredCollections: Set<[String]> = []

    init(
        _ stored: PropertyList, isFoundation: Bool, default defaultTree: PropertyList?, isTolerant: Bool,
        unknown: UnknownEntries?
    ) {
        (self.stored, tree, self.isFoundation, self.defaultTree) = (stored, stored, isFoundation, defaultTree)
        (self.isTolerant, self.unknown) = (isTolerant, unknown)
    }

    /// - Throws: The error of the decoder, if a part that cannot be read cannot be replaced.
    mutating func decode() throws -> Value {
        // After 100 faults, whole properties are replaced.
        var rounds = 0
        while true {
            let failures = DecodingFailures()
            unknown?.removeAll()
            let root = StoredValueDecoder.Root(
                lenientPaths: lenientPaths, unknown: unknown, failures: failures, readsFoundation: isFoundation)
            do {
                return try root.decode(Value.self, from: .tree(tree))
            } catch {
                let (path, isMissing) = failures.path(of: error)
                if recoverCollection(around: path, failures) { continue }
                if !isMissing, lenientPaths.insert(path.map(\.stringValue)).inserted { continue }
                rounds += 1
                guard rounds < 200, recover(path, isMissing: isMissing, error, failures, isLast: rounds > 100) else {
                    throw error
                }
            }
        }
    }

    /// Replaces the part that cannot be read, or the innermost part around it that can be replaced.
    private mutating func recover(
        _ path: [any CodingKey], isMissing: Bool, _ error: any Error, _ failures: DecodingFailures, isLast: Bool
    ) -> Bool {
        var keys = path
        var canFill = isMissing
        if isLast, keys.count > 1 { (keys, canFill) = ([keys[0]], false) }
        while !keys.isEmpty {
            guard isTolerant || canFill else { return false }
            let path = keys.map(\.stringValue)
            if let change = recover(path, failures) {
                if canFill, change != .replaced { return true }
                var fault = DefaultsError(decoding: Value.self, error)
                fault.path = keys.map(\.nameInErrors)
                fault.reason += "; the default is read in its place"
                faults.removeAll { $0.path.starts(with: path) }
                faults.append((path, fault))
                return true
            }
            keys.removeLast()
            canFill = false
        }
        return false
    }

    private mutating func recover(_ path: [String], _ failures: DecodingFailures) -> TreeChange? {
        // If the outer default lacks the part, the default of a nested config may have it.
        let placed = defaultTree?[path[...]] ?? failures.defaultPart(at: path)
        guard let change = tree.replace(path, with: placed) else { return nil }
        switch change {
        case .filled: break
        case .replaced:
            recovered.removeAll { $0.path.starts(with: path) }
            recovered.append((path, placed))
        case .inArray: hasOtherFaults = true
        }
        return change
    }

    /// Replaces each element of the outermost list or dictionary around a part at fault.
    ///
    /// - Returns: Whether that changed anything.
    private mutating func recoverCollection(around fault: [any CodingKey], _ failures: DecodingFailures) -> Bool {
        let names = fault.map(\.stringValue)
        guard
            let (keys, type) = failures.all.last(where: { path, type in
                type is any PartCollection.Type && path.count < names.count
                    && names.starts(with: path.map(\.stringValue))
            }), let part = (type as? any PartCollection.Type)?.partType as? any Decodable.Type,
            let collection = tree[any: keys.map(\.stringValue)[...]],
            // A dictionary may be written as an array of keys and values in turn.
            collection.isDictionary || type is any ElementList.Type,
            recoveredCollections.insert(keys.map(\.stringValue)).inserted
        else { return false }
        let path = keys.map(\.stringValue)
        let lenientCount = lenientPaths.count
        var changed = collection
        switch collection {
        case .array(let elements):
            var left: [PropertyList] = []
            for (index, element) in elements.enumerated() {
                let (recovered, faults) = recoverPart(
                    part, element, default: nil, at: path + ["\(left.count)"], keys, named: "\(index)")
                if !faults.isEmpty { hasOtherFaults = true }
                self.faults += faults
                if let recovered { left.append(recovered) }
            }
            changed = .array(left)
        case .dictionary(var entries):
            for (key, entry) in entries {
                let path = path + [key]
                let (recovered, faults) = recoverPart(
                    part, entry, default: defaultTree?[path[...]] ?? failures.defaultPart(at: path), at: path, keys,
                    named: "*")
                self.faults += faults
                entries[key] = recovered
            }
            changed = .dictionary(entries)
        default: break
        }
        guard changed != collection else { return lenientPaths.count > lenientCount }
        tree[any: path[...]] = changed
        return true
    }

    /// Replaces one element of a list or value of a dictionary.
    ///
    /// - Parameter path: The path that it has then.
    /// - Returns: What is left of it, `nil` to leave it out, and its faults.
    private mutating func recoverPart<Part: Decodable>(
        _ type: Part.Type, _ part: PropertyList, default: PropertyList?, at path: [String],
        _ keys: [any CodingKey], named name: String
    ) -> (PropertyList?, [(path: [String], error: DefaultsError)]) {
        // In a dictionary, because a nil has another form there than as a whole value.
        var defaultTree = `default`
        if defaultTree == nil { defaultTree = (type as? any DefaultConfig.Type)?.defaultTree }
        var partDecoder = RecoveringTreeDecoder<OnePart<Part>>(
            .dictionary(["": part]), isFoundation: isFoundation, default: defaultTree.map { .dictionary(["": $0]) },
            isTolerant: isTolerant, unknown: nil)
        let isDecoded = (try? partDecoder.decode()) != nil
        // Nothing was found that could take the place of the part.
        guard isDecoded || !partDecoder.faults.isEmpty else { return (part, []) }
        for other in partDecoder.lenientPaths { lenientPaths.insert(path + other.dropFirst()) }
        if partDecoder.hasOtherFaults { hasOtherFaults = true }
        for (other, placed) in partDecoder.recovered {
            let whole = path + other.dropFirst()
            if stored[whole[...]] == nil { hasOtherFaults = true }
            recovered.append((whole, placed))
        }
        let faults = partDecoder.faults.map { other, error in
            var error = error
            error.path = keys.map(\.nameInErrors) + [name] + error.path.dropFirst()
            error.type = "\(Value.self)"
            return (path: path + other.dropFirst(), error: error)
        }
        return (isDecoded ? partDecoder.tree[[""]] : nil, faults)
    }
}

/// A value in a dictionary, so that its path in errors has one key more.
private struct OnePart<Part: Decodable>: Decodable {
    private struct Key: CodingKey {
        var stringValue: String { "" }
        var intValue: Int? { nil }
        init() {}
        init?(stringValue: String) { self.init() }
        init?(intValue: Int) { return nil }
    }

    init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: Key.self).decode(Part.self, forKey: Key())
    }
}

/// Decodes a value of which some parts cannot be read.
///
/// - Parameters:
///   - isFoundation: Whether Foundation's coders wrote the value.
///   - defaultTree: The default in its stored form.
///   - isTolerant: Whether to replace unreadable parts, and not only to fill in missing ones.
/// - Throws: The error of the decoder, if a part that cannot be read cannot be replaced.
func decodingWithFaults<Value: Decodable>(
    _ type: Value.Type, from stored: PropertyList, isFoundation: Bool, default defaultTree: PropertyList,
    isTolerant: Bool, unknown: UnknownEntries?
) throws -> (value: Value, recovery: DecodingRecovery) {
    var partDecoder = RecoveringTreeDecoder<Value>(
        stored, isFoundation: isFoundation, default: defaultTree, isTolerant: isTolerant, unknown: unknown)
    let value = try partDecoder.decode()
    var recovery = DecodingRecovery()
    recovery.entries = partDecoder.recovered.compactMap { path, placed in
        stored[path[...]].map { DecodingRecovery.Entry(path: path, stored: $0, placed: placed, isFault: true) }
    }
    recovery.errors = partDecoder.faults.map(\.error)
    recovery.hasOtherFaults = partDecoder.hasOtherFaults
    return (value, recovery)
}

private enum TreeChange { case filled, replaced, inArray }

extension PropertyList {
    /// Replaces or removes a part of a tree.
    ///
    /// - Parameters:
    ///   - path: The path of the part. This tree is at `depth` in it.
    ///   - new: What takes its place; `nil` to leave an entry of a dictionary out.
    /// - Returns: `nil` if that changes nothing.
    fileprivate mutating func replace(_ path: [String], _ depth: Int = 0, with new: PropertyList?) -> TreeChange? {
        let (key, isLast) = (path[depth], depth == path.count - 1)
        var change: TreeChange?
        switch self {
        case .dictionary(var entries):
            if isLast {
                guard entries[key] != new else { return nil }
                change = entries[key] == nil ? .filled : .replaced
                entries[key] = new
            } else {
                change = entries[key]?.replace(path, depth + 1, with: new)
            }
            self = .dictionary(entries)
            return change
        case .array(var elements):
            guard let index = Int(key), elements.indices.contains(index) else { return nil }
            if isLast {
                guard let new, elements[index] != new else { return nil }
                elements[index] = new
            } else {
                guard elements[index].replace(path, depth + 1, with: new) != nil else { return nil }
            }
            self = .array(elements)
            return .inArray
        default: return nil
        }
    }
}

extension PropertyList {
    fileprivate var isDictionary: Bool { if case .dictionary = self { true } else { false } }

    /// The part of a tree at a path, in dictionaries and arrays; `nil` if there is none.
    fileprivate subscript(any path: ArraySlice<String>) -> PropertyList? {
        get {
            guard let key = path.first else { return self }
            switch self {
            case .dictionary(let entries): return entries[key]?[any: path.dropFirst()]
            case .array(let elements):
                guard let index = Int(key), elements.indices.contains(index) else { return nil }
                return elements[index][any: path.dropFirst()]
            default: return nil
            }
        }
        set {
            guard let key = path.first else {
                if let newValue { self = newValue }
                return
            }
            switch self {
            case .dictionary(var entries):
                entries[key]?[any: path.dropFirst()] = newValue
                self = .dictionary(entries)
            case .array(var elements):
                guard let index = Int(key), elements.indices.contains(index) else { return }
                elements[index][any: path.dropFirst()] = newValue
                self = .array(elements)
            default: break
            }
        }
    }
}
