/// The repairs that are allowed for parts at fault.
enum Mending {
    case none
    /// Missing parts are filled in.
    case missing
    /// Unreadable parts are replaced, too.
    case all
}

/// A part whose stored value was not the one that was read.
private struct RepairedPart {
    var path: [String]
    /// Whether anything was stored.
    var isStored: Bool
    var error: DefaultsError
    /// What was done about it, as text to append to the error.
    var outcome: String
    /// Whether the error of another part of the same collection stands for this one in reports.
    var isRepresented = false
    /// For how many other parts the error stands.
    var others = 0
}

/// Decodes a value again after a first attempt has failed, until each part at fault is read in
/// another form, is replaced, or is left out.
///
/// Each round decodes the value, mends the part of the tree that has failed, and begins again. Only
/// an error that no type catches reveals a fault, so a fault cannot be mended where it occurs. A
/// list or a dictionary with a part at fault is mended part by part in one round, because it may
/// have thousands of them.
struct Repair<Value: Decodable> {
    /// The stored value with the repairs so far.
    private var tree: PropertyList
    private let rules: DecodingRules
    /// The parts that are read from other forms than those of their types, if the rules allow it.
    /// All others are read as before, so that a fault changes nothing else.
    private var lenientPaths: Set<[String]> = []
    /// The parts that were taken from the default.
    private var defaultPaths: Set<[String]> = []
    /// The default in its stored form; `nil` if there is none.
    private let defaultTree: PropertyList?
    private let mending: Mending
    /// Whether the value is one element of a list, or one entry of a dictionary.
    private var isElement = false
    private var faults: [RepairedPart] = []
    /// For each list of which elements were left out, the indices of those that stay.
    private(set) var keptIndices: [[String]: [Int]] = [:]
    /// Whether the type has no entry of the dictionary that is stored.
    private(set) var isUnread = false
    /// The lists and dictionaries whose parts were decoded one by one.
    private var repairedPaths: Set<[String]> = []
    private(set) var last: DecodingAttempt

    init(_ tree: PropertyList, _ rules: DecodingRules, default defaultTree: PropertyList?, _ mending: Mending) {
        (self.tree, self.rules, defaultPaths, last) = (tree, rules, rules.defaultPaths, DecodingAttempt(rules))
        (self.defaultTree, self.mending) = (defaultTree, mending)
    }

    /// - Throws: The error of the decoder, if a part at fault cannot be mended.
    mutating func decode() throws -> Value {
        // After 100 faults, whole properties are replaced.
        var (rounds, isFirst) = (0, true)
        while true {
            rules.faults?.removeEntries()
            var rules = rules
            if case .parts = rules.leniency { rules.leniency = .parts(lenientPaths) }
            rules.defaultPaths = defaultPaths
            last = DecodingAttempt(rules)
            // Later, entries of the default may be among them.
            defer { (isUnread, isFirst) = (isFirst ? last.isUnread : isUnread, false) }
            do {
                return try last.decode(from: tree)
            } catch {
                guard mending != .none else { throw error }
                let (path, isMissing) = last.fault(of: error, in: tree)
                if repairParts(around: path) { continue }
                if !isMissing, readLeniently(path.map(\.stringValue)) { continue }
                rounds += 1
                guard rounds < 200, replace(path, isMissing: isMissing, error, isLast: rounds > 100) else {
                    throw error
                }
            }
        }
    }

    /// The result of the repairs, once the value is decoded.
    var recovery: DecodingRecovery {
        var recovery = DecodingRecovery()
        for fault in faults {
            recovery.all.append(fault.error)
            var error = fault.error
            error.reason += fault.outcome
            if fault.isStored { recovery.faults.append(.init(path: fault.path, error: error)) }
            guard !fault.isRepresented else { continue }
            if fault.others > 0 { error.reason += "; other parts of the collection with this problem: \(fault.others)" }
            recovery.errors.append(error)
        }
        return recovery
    }

    private mutating func readLeniently(_ path: [String]) -> Bool {
        if case .parts = rules.leniency { lenientPaths.insert(path).inserted } else { false }
    }

    /// Replaces the part that cannot be read, or the innermost part around it that can be replaced.
    private mutating func replace(_ path: [any CodingKey], isMissing: Bool, _ error: any Error, isLast: Bool) -> Bool {
        var (keys, isMissing) = (path, isMissing)
        if isLast, keys.count > 1 { (keys, isMissing) = ([keys[0]], false) }
        while !keys.isEmpty, mending == .all || isMissing {
            let path = keys.map(\.stringValue)
            // If the outer default lacks the part, the default of a nested config may have it.
            let new = defaultTree?.entry(at: path[...]) ?? last.defaultPart(at: path)
            let change = tree.edit(path[...]) { part, place -> (old: PropertyList?, place: PropertyList.Place)? in
                guard part != new else { return nil }
                defer { part = new }
                return (part, place)
            }
            if let (old, place) = change {
                defaultPaths.insert(path)
                // A nil that an optional has stored counts as missing.
                if isMissing, old == nil || old == .nilMarker && new != nil || place == .array { return true }
                var fault = DefaultsError(decoding: Value.self, error)
                fault.path = keys.map(\.nameInErrors)
                let outcome =
                    isElement && new == nil
                    ? "; this entry is left out" + DefaultsError.remedy(error, of: last.failures.first?.type)
                    : "; the default is used instead"
                faults.removeAll { $0.path.starts(with: path) }
                faults.append(RepairedPart(path: path, isStored: old != nil, error: fault, outcome: outcome))
                return true
            }
            keys.removeLast()
            isMissing = false
        }
        return false
    }

    /// Repairs each part of the outermost list or dictionary around a part at fault.
    ///
    /// - Returns: Whether that changed anything.
    private mutating func repairParts(around fault: [any CodingKey]) -> Bool {
        guard let (keys, type) = last.collection(around: fault), let part = type.partType as? any Decodable.Type else {
            return false
        }
        let path = keys.map(\.stringValue)
        var (before, after) = (PropertyList?.none, PropertyList?.none)
        let (lenientCount, firstFault) = (lenientPaths.count, faults.count)
        _ = tree.edit(path[...]) { part, _ -> Void? in before = part }
        switch before {
        case .array(let elements):
            // A dictionary may be written as an array of alternating keys and values.
            guard type.isList, repairedPaths.insert(path).inserted else { return false }
            var (repairedElements, indices) = ([PropertyList](), [Int]())
            for (index, element) in elements.enumerated() {
                let place = (path + ["\(repairedElements.count)"], keys.map(\.nameInErrors) + ["\(index)"])
                if let element = repair(part, element, default: nil, at: place) {
                    repairedElements.append(element)
                    indices.append(index)
                }
            }
            if indices.count < elements.count { keptIndices[path] = indices }
            after = .array(repairedElements)
        case .dictionary(var entries):
            guard repairedPaths.insert(path).inserted else { return false }
            for (key, entry) in entries {
                let path = path + [key]
                let known = defaultTree?.entry(at: path[...]) ?? last.defaultPart(at: path)
                let place = (path, keys.map(\.nameInErrors) + ["*"])
                entries[key] = repair(part, entry, default: known, at: place)
            }
            after = .dictionary(entries)
        default: return false
        }
        let others = faults.count - firstFault - 1
        if others > 0 {
            faults[firstFault].others = others
            for index in (firstFault + 1)..<faults.count { faults[index].isRepresented = true }
        }
        guard after != before else { return lenientPaths.count > lenientCount }
        _ = tree.edit(path[...]) { part, _ -> Void? in part = after }
        return true
    }

    /// Returns one part of a list or a dictionary with its repairs; `nil` to leave it out.
    private mutating func repair<Part: Decodable>(
        _ type: Part.Type, _ part: PropertyList, default known: PropertyList?,
        at place: (path: [String], names: [String])
    ) -> PropertyList? {
        // Decode it in a dictionary, because there nil has a different form than as a whole value.
        let defaultTree = known ?? (type as? any DefaultConfig.Type)?.defaults.tree
        var rules = rules
        (rules.faults, rules.defaultPaths) = (nil, [])
        var repair = Repair<OnePart<Part>>(
            .dictionary(["": part]), rules, default: defaultTree.map { .dictionary(["": $0]) }, mending)
        repair.isElement = true
        let isDecoded = (try? repair.decode()) != nil
        // Nothing was found that could take the place of the part.
        guard isDecoded || !repair.faults.isEmpty else { return part }
        for inner in repair.lenientPaths { lenientPaths.insert(place.path + inner.dropFirst()) }
        for inner in repair.defaultPaths { defaultPaths.insert(place.path + inner.dropFirst()) }
        for (inner, indices) in repair.keptIndices { keptIndices[place.path + inner.dropFirst()] = indices }
        faults += repair.faults.map { fault in
            var fault = fault
            fault.error.path = place.names + fault.error.path.dropFirst()
            fault.error.type = "\(Value.self)"
            fault.path = place.path + fault.path.dropFirst()
            return fault
        }
        return isDecoded ? repair.tree.entry(at: [""]) : nil
    }
}

/// A value in a dictionary, so that its path in errors has one more key.
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
