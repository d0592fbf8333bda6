// Decodes a value of which some stored parts cannot be read, and lets a later write keep the parts
// that this version of the program does not know.

/// What a decoder did about entries that it could not read, or that the type does not know.
struct Mending: Sendable {
    /// An entry of a dictionary that the type did not read.
    struct Entry: Sendable {
        let path: [String]
        let stored: PropertyList
        /// What was decoded in its place; `nil` for nothing.
        let placed: PropertyList?
        /// Whether the entry could not be read, and is not just unknown to the type.
        let isFault: Bool
    }
    /// The entries that a later write keeps, unless it changes what was decoded in their place.
    var entries: [Entry] = []
    /// The errors, one for each mended path.
    var errors: [DefaultsError] = []
    /// Whether a part that cannot be read is missing from `entries`, such as an element of an
    /// array.
    var hasOtherFaults = false

    var isEmpty: Bool { entries.isEmpty && errors.isEmpty }

    /// Puts the entries back into the value that replaces the stored one.
    ///
    /// - Returns: The value to store, the entries in it, and whether it keeps all parts that could
    ///   not be read.
    func merged(into new: PropertyList) -> (new: PropertyList, kept: Mending, isComplete: Bool) {
        // JSON in data.
        let json =
            if case .data(let data) = new, !entries.isEmpty { try? EmbeddedData(data).tree } else { PropertyList?.none }
        var merged = json ?? new
        var kept = Mending()
        kept.errors = errors
        var isComplete = !hasOtherFaults
        for entry in entries {
            // Outside of JSON, a number of many digits is a text, as of a `Decimal`.
            let stored = json == nil ? entry.stored.withDigitsAsText : entry.stored
            if merged.put(stored, at: entry.path[...], insteadOf: entry.placed) {
                kept.entries.append(entry)
            } else if entry.isFault {
                isComplete = false
            }
        }
        if json != nil {
            merged = kept.entries.isEmpty ? new : (try? EmbeddedData(json: merged)).map { .data($0.data) } ?? new
        }
        return (merged, kept, isComplete)
    }
}

extension Mending {
    /// Adds arrays with elements of which the type does not know each entry. A later write keeps
    /// such an array unless it changes it: elements have no identity by which a changed array could
    /// keep their entries.
    ///
    /// - Parameter encoded: The decoded value as it would be stored; `nil` if it has another form
    ///   from now on.
    mutating func add(arrays: Set<[String]>, in stored: PropertyList, encoded: PropertyList?) {
        for path in arrays where !path.isEmpty {
            if let array = stored[path[...]], let placed = encoded?[path[...]] {
                entries.append(Entry(path: path, stored: array, placed: placed, isFault: false))
            }
        }
    }
}

extension PropertyList {
    /// Replaces an entry of a dictionary if it is equal to `placed`, or is missing for `nil`.
    ///
    /// - Returns: Whether it was replaced.
    mutating func put(_ value: PropertyList, at path: ArraySlice<String>, insteadOf placed: PropertyList?) -> Bool {
        guard let key = path.first, case .dictionary(var entries) = self else { return false }
        if path.count == 1 {
            guard entries[key] == placed else { return false }
            entries[key] = value
        } else {
            guard entries[key]?.put(value, at: path.dropFirst(), insteadOf: placed) == true else { return false }
        }
        self = .dictionary(entries)
        return true
    }

    /// Returns the path of the outermost array around a part of the tree; `nil` if there is none.
    func outermostArray(around path: [String]) -> [String]? {
        var node = self
        for (index, key) in path.enumerated() {
            switch node {
            case .array: return Array(path[..<index])
            case .dictionary(let entries):
                guard let entry = entries[key] else { return nil }
                node = entry
            default: return nil
            }
        }
        return nil
    }

    fileprivate var isDictionary: Bool { if case .dictionary = self { true } else { false } }

    /// The entry of a dictionary at a path; `nil` if there is none.
    subscript(path: ArraySlice<String>) -> PropertyList? {
        guard let key = path.first else { return self }
        guard case .dictionary(let entries) = self else { return nil }
        return entries[key]?[path.dropFirst()]
    }

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

/// Decodes a value of which some parts cannot be read. Takes these parts from the default, or
/// leaves them out.
///
/// Each round decodes the value, mends the part at fault in the tree, and begins again. A list or a
/// dictionary with a part at fault is mended in one round, element by element, because it may have
/// thousands of them.
private struct TreeMender<Value: Decodable> {
    /// The stored value, and what is left of it.
    let stored: PropertyList
    private(set) var tree: PropertyList
    /// Whether Foundation's coders wrote the tree.
    let isFoundation: Bool
    /// The default in its stored form; `nil` if there is none.
    let defaultTree: PropertyList?
    /// Whether to mend unreadable parts, and not only to fill in missing ones.
    let isTolerant: Bool
    let unknown: UnknownEntries?
    /// The mended paths of dictionaries, in their order.
    private(set) var mended: [(path: [String], placed: PropertyList?)] = []
    private(set) var faults: [(path: [String], error: DefaultsError)] = []
    /// Whether something at fault is not in `mended`, such as an element of an array.
    private(set) var hasOtherFaults = false
    /// The parts that are not stored in the form of their type. All others are read strictly, so
    /// that a fault changes nothing else: see ``PropertyListTreeDecoder/Root/isStrict``.
    private(set) var lenientPaths: Set<[String]> = []
    /// The lists and dictionaries that were mended.
    private var mendedCollections: Set<[String]> = []

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
        var mends = 0
        while true {
            let failures = DecodingFailures()
            unknown?.removeAll()
            let root = PropertyListTreeDecoder.Root(
                lenientPaths: lenientPaths, unknown: unknown, failures: failures, readsFoundation: isFoundation)
            do {
                return try root.decode(Value.self, from: tree)
            } catch {
                let (path, isMissing) = failures.path(of: error)
                if mendCollection(around: path, failures) { continue }
                if !isMissing, lenientPaths.insert(path.map(\.stringValue)).inserted { continue }
                mends += 1
                guard mends < 200, mend(path, isMissing: isMissing, error, failures, isLast: mends > 100) else {
                    throw error
                }
            }
        }
    }

    /// Mends the part that cannot be read, or the innermost part around it that can be mended.
    private mutating func mend(
        _ path: [any CodingKey], isMissing: Bool, _ error: any Error, _ failures: DecodingFailures, isLast: Bool
    ) -> Bool {
        var keys = path
        var canFill = isMissing
        if isLast, keys.count > 1 { (keys, canFill) = ([keys[0]], false) }
        while !keys.isEmpty {
            guard isTolerant || canFill else { return false }
            let path = keys.map(\.stringValue)
            if let change = mend(path, failures) {
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

    private mutating func mend(_ path: [String], _ failures: DecodingFailures) -> MendedPart? {
        // If the outer default lacks the part, the default of a nested config may have it.
        let placed = defaultTree?[path[...]] ?? failures.defaultPart(at: path)
        guard let change = tree.replace(path, with: placed, isList: failures.isList) else { return nil }
        switch change {
        case .filled: break
        case .replaced:
            mended.removeAll { $0.path.starts(with: path) }
            mended.append((path, placed))
        case .inArray: hasOtherFaults = true
        }
        return change
    }

    /// Mends each element of the outermost list or dictionary around a part at fault.
    ///
    /// - Returns: Whether that changed anything.
    private mutating func mendCollection(around fault: [any CodingKey], _ failures: DecodingFailures) -> Bool {
        let names = fault.map(\.stringValue)
        guard
            let (keys, type) = failures.all.last(where: { path, type in
                type is any PartCollection.Type && path.count < names.count
                    && names.starts(with: path.map(\.stringValue))
            }), let part = (type as? any PartCollection.Type)?.partType as? any Decodable.Type,
            let collection = tree[any: keys.map(\.stringValue)[...]],
            // A dictionary may be written as an array of keys and values in turn.
            collection.isDictionary || type is any ElementList.Type,
            mendedCollections.insert(keys.map(\.stringValue)).inserted
        else { return false }
        let path = keys.map(\.stringValue)
        let lenientCount = lenientPaths.count
        var changed = collection
        switch collection {
        case .array(let elements):
            var left: [PropertyList] = []
            for (index, element) in elements.enumerated() {
                let (mended, faults) = mendPart(
                    part, element, default: nil, at: path + ["\(left.count)"], keys, named: "\(index)")
                if !faults.isEmpty { hasOtherFaults = true }
                self.faults += faults
                if let mended { left.append(mended) }
            }
            changed = .array(left)
        case .dictionary(var entries):
            for (key, entry) in entries {
                let path = path + [key]
                let (mended, faults) = mendPart(
                    part, entry, default: defaultTree?[path[...]] ?? failures.defaultPart(at: path), at: path, keys,
                    named: "*")
                self.faults += faults
                entries[key] = mended
            }
            changed = .dictionary(entries)
        default: break
        }
        guard changed != collection else { return lenientPaths.count > lenientCount }
        tree[any: path[...]] = changed
        return true
    }

    /// Mends one element of a list or value of a dictionary.
    ///
    /// - Parameter path: The path that it has then.
    /// - Returns: What is left of it, `nil` to leave it out, and its faults.
    private mutating func mendPart<Part: Decodable>(
        _ type: Part.Type, _ part: PropertyList, default: PropertyList?, at path: [String],
        _ keys: [any CodingKey], named name: String
    ) -> (PropertyList?, [(path: [String], error: DefaultsError)]) {
        // In a dictionary, because a nil has another form there than as a whole value.
        var defaultTree = `default`
        if defaultTree == nil { defaultTree = (type as? any DefaultConfig.Type)?.defaultTree }
        var mender = TreeMender<OnePart<Part>>(
            .dictionary(["": part]), isFoundation: isFoundation, default: defaultTree.map { .dictionary(["": $0]) },
            isTolerant: isTolerant, unknown: nil)
        let isDecoded = (try? mender.decode()) != nil
        // Nothing was found that could take the place of the part.
        guard isDecoded || !mender.faults.isEmpty else { return (part, []) }
        for other in mender.lenientPaths { lenientPaths.insert(path + other.dropFirst()) }
        if mender.hasOtherFaults { hasOtherFaults = true }
        for (other, placed) in mender.mended {
            let whole = path + other.dropFirst()
            if stored[whole[...]] == nil { hasOtherFaults = true }
            mended.append((whole, placed))
        }
        let faults = mender.faults.map { other, error in
            var error = error
            error.path = keys.map(\.nameInErrors) + [name] + error.path.dropFirst()
            error.type = "\(Value.self)"
            return (path: path + other.dropFirst(), error: error)
        }
        return (isDecoded ? mender.tree[[""]] : nil, faults)
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
///   - isTolerant: Whether to mend unreadable parts, and not only to fill in missing ones.
/// - Throws: The error of the decoder, if a part that cannot be read cannot be replaced.
func decodingWithFaults<Value: Decodable>(
    _ type: Value.Type, from stored: PropertyList, isFoundation: Bool, default defaultTree: PropertyList,
    isTolerant: Bool, unknown: UnknownEntries?
) throws -> (value: Value, mending: Mending) {
    var mender = TreeMender<Value>(
        stored, isFoundation: isFoundation, default: defaultTree, isTolerant: isTolerant, unknown: unknown)
    let value = try mender.decode()
    var mending = Mending()
    mending.entries = mender.mended.compactMap { path, placed in
        stored[path[...]].map { Mending.Entry(path: path, stored: $0, placed: placed, isFault: true) }
    }
    mending.errors = mender.faults.map(\.error)
    mending.hasOtherFaults = mender.hasOtherFaults
    return (value, mending)
}

private enum MendedPart { case filled, replaced, inArray }

extension PropertyList {
    /// Replaces or removes a part of a tree.
    ///
    /// - Parameters:
    ///   - path: The path of the part. This tree is at `depth` in it.
    ///   - new: What takes its place; `nil` to leave the part out.
    ///   - isList: Returns whether the path leads to an array whose elements can be left out.
    /// - Returns: `nil` if that changes nothing.
    fileprivate mutating func replace(
        _ path: [String], _ depth: Int = 0, with new: PropertyList?, isList: ([String]) -> Bool
    ) -> MendedPart? {
        let (key, isLast) = (path[depth], depth == path.count - 1)
        var change: MendedPart?
        switch self {
        case .dictionary(var entries):
            if isLast {
                guard entries[key] != new else { return nil }
                change = entries[key] == nil ? .filled : .replaced
                entries[key] = new
            } else {
                change = entries[key]?.replace(path, depth + 1, with: new, isList: isList)
            }
            self = .dictionary(entries)
            return change
        case .array(var elements):
            guard let index = Int(key), elements.indices.contains(index) else { return nil }
            if !isLast {
                guard elements[index].replace(path, depth + 1, with: new, isList: isList) != nil else { return nil }
            } else if let new {
                guard elements[index] != new else { return nil }
                elements[index] = new
            } else {
                guard isList(Array(path[..<depth])) else { return nil }
                elements.remove(at: index)
            }
            self = .array(elements)
            return .inArray
        default: return nil
        }
    }
}

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

    /// Returns whether a list failed to decode at a path.
    func isList(_ path: [String]) -> Bool {
        all.contains { $0.type is any ElementList.Type && $0.path.map(\.stringValue) == path }
    }
}

extension DefaultConfig {
    /// The default in its stored form.
    fileprivate static var defaultTree: PropertyList? { try? Conversion.encodingByCodable(defaultInstance) }
}

/// A collection whose elements are of one type.
private protocol PartCollection {
    static var partType: Any.Type { get }
}
extension Dictionary: PartCollection {
    fileprivate static var partType: Any.Type { Value.self }
}

/// A collection that stays valid without one of its elements, unlike a pair or a dictionary that is
/// written as an array.
private protocol ElementList: PartCollection {}
extension Array: ElementList {
    fileprivate static var partType: Any.Type { Element.self }
}
extension ContiguousArray: ElementList {
    fileprivate static var partType: Any.Type { Element.self }
}
extension Set: ElementList {
    fileprivate static var partType: Any.Type { Element.self }
}

/// Collects the entries that no type has a key for.
final class UnknownEntries {
    private(set) var names: [[String]: Set<String>] = [:]

    func removeAll() { names = [:] }

    /// Records the entries of a dictionary that a container does not know. If several containers
    /// read the same dictionary, only the entries that none of them knows remain.
    func note(_ unknown: Set<String>, at path: [any CodingKey]) {
        let path = path.map(\.stringValue)
        names[path] = names[path]?.intersection(unknown) ?? unknown
    }

    /// The paths of the outermost arrays around entries that no type has a key for.
    func arrays(in stored: PropertyList) -> Set<[String]> {
        Set(names.lazy.filter { !$0.value.isEmpty }.compactMap { stored.outermostArray(around: $0.key) })
    }

    /// The entries outside of arrays, as they are stored.
    func entries(in stored: PropertyList) -> [Mending.Entry] {
        names.flatMap { path, names in
            names.compactMap { name in
                stored[(path + [name])[...]].map {
                    Mending.Entry(path: path + [name], stored: $0, placed: nil, isFault: false)
                }
            }
        }
    }
}
