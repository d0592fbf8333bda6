// How a value is decoded if parts of what is stored are at fault, and how a later write keeps what
// this version of the program does not know.

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
    /// The faults, one for each mended path.
    var errors: [DefaultsError] = []
    /// Whether something at fault is not in `entries`, such as an element of an array.
    var hasOtherFaults = false

    var isEmpty: Bool { entries.isEmpty && errors.isEmpty }

    /// Puts the entries back into what replaces the stored value.
    ///
    /// - Returns: The value to store, the entries in it, and whether nothing that was at fault is
    ///   lost.
    func merged(into new: PropertyList) -> (new: PropertyList, kept: Mending, isComplete: Bool) {
        // JSON in data.
        let json =
            if case .data(let data) = new, !entries.isEmpty { try? EmbeddedData(data).tree } else { PropertyList?.none }
        var merged = json ?? new
        var kept = Mending()
        kept.errors = errors
        var isComplete = !hasOtherFaults
        for entry in entries {
            if merged.put(entry.stored, at: entry.path[...], insteadOf: entry.placed) {
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

    /// The entry of a dictionary at a path; `nil` if there is none.
    subscript(path: ArraySlice<String>) -> PropertyList? {
        guard let key = path.first else { return self }
        guard case .dictionary(let entries) = self else { return nil }
        return entries[key]?[path.dropFirst()]
    }
}

/// Decodes a value of which parts are at fault: takes them from the default, or leaves them out.
struct MendingDecoder<Value: Codable & Sendable> {
    /// The stored value, and what is left of it.
    private let stored: PropertyList
    private var tree: PropertyList
    /// Whether Foundation's coders wrote the tree.
    private let isFoundation: Bool
    /// The default as it would be stored.
    private let defaultTree: PropertyList
    /// Whether parts at fault are mended, and not only missing ones filled in.
    private let isTolerant: Bool
    private let unknown: UnknownEntries?
    private var mending = Mending()
    /// The mended paths of dictionaries, in their order.
    private var mended: [(path: [String], placed: PropertyList?)] = []
    private var faults: [(path: [String], error: DefaultsError)] = []

    init(
        _ stored: PropertyList, isFoundation: Bool, default defaultTree: PropertyList, isTolerant: Bool,
        unknown: UnknownEntries?
    ) {
        (self.stored, tree, self.isFoundation, self.defaultTree) = (stored, stored, isFoundation, defaultTree)
        (self.isTolerant, self.unknown) = (isTolerant, unknown)
    }

    /// - Throws: What the decoder throws, if no part can take the place of one at fault.
    mutating func decode() throws -> (value: Value, mending: Mending) {
        // Each round decodes everything, so after so many faults a whole property gives way.
        for round in 0..<200 {
            let failures = DecodingFailures()
            unknown?.removeAll()
            let root = PropertyListTreeDecoder.Root(
                isStrict: false, unknown: unknown, failures: failures, readsFoundation: isFoundation)
            do {
                let value = try root.decode(Value.self, from: tree)
                mending.entries = mended.compactMap { path, placed in
                    stored[path[...]].map { Mending.Entry(path: path, stored: $0, placed: placed, isFault: true) }
                }
                mending.errors = faults.map(\.error)
                return (value, mending)
            } catch {
                guard mend(error, failures, isLast: round > 100) else { throw error }
            }
        }
        throw DefaultsError(.unreadable, type: "\(Value.self)", reason: "too many parts are at fault")
    }

    /// Mends the part at fault, or the innermost one around it that can be mended.
    private mutating func mend(_ error: any Error, _ failures: DecodingFailures, isLast: Bool) -> Bool {
        var keys: [any CodingKey]
        var isMissing = false
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            keys = context.codingPath + [key]
            isMissing = true
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            keys = context.codingPath
        default: keys = failures.innermost?.path ?? []
        }
        guard isMissing || isTolerant else { return false }
        if isLast { keys.removeLast(max(0, keys.count - 1)) }
        while !keys.isEmpty {
            let path = keys.map(\.stringValue)
            if mend(path, failures) {
                guard !isMissing else { return true }
                var fault = DefaultsError(decoding: Value.self, error)
                fault.path = keys.map(\.nameInErrors)
                fault.reason += "; the default is read in its place"
                faults.removeAll { $0.path.starts(with: path) }
                faults.append((path, fault))
                return true
            }
            guard isTolerant else { return false }
            keys.removeLast()
            isMissing = false
        }
        return false
    }

    private mutating func mend(_ path: [String], _ failures: DecodingFailures) -> Bool {
        // A nested config has a default of its own, for what the default around it lacks.
        let placed = defaultTree[path[...]] ?? failures.defaultPart(at: path)
        guard let change = tree.replace(path, with: placed, isList: failures.isList) else { return false }
        switch change {
        case .filled: break
        case .replaced:
            mended.removeAll { $0.path.starts(with: path) }
            mended.append((path, placed))
        case .inArray: mending.hasOtherFaults = true
        }
        return true
    }
}

private enum MendedPart { case filled, replaced, inArray }

extension PropertyList {
    /// Replaces or removes a part of a tree.
    ///
    /// - Parameters:
    ///   - path: The path of the part, of which this tree is at `depth`.
    ///   - new: What takes its place; `nil` to leave the part out.
    ///   - isList: Whether a path is that of an array, of which an element may be left out.
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

/// The types that failed to decode, from the innermost outwards.
final class DecodingFailures {
    private(set) var all: [(path: [any CodingKey], type: Any.Type)] = []

    func append(_ path: [any CodingKey], _ type: Any.Type) { all.append((path, type)) }

    var innermost: (path: [any CodingKey], type: Any.Type)? { all.first }

    /// Returns a part of the default of the innermost config around it.
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
    /// The default as it would be stored.
    fileprivate static var defaultTree: PropertyList? { try? Conversion.encodingByCodable(defaultInstance) }
}

/// A collection that may lack an element, unlike a pair or a dictionary that is written as an
/// array.
private protocol ElementList {}
extension Array: ElementList {}
extension ContiguousArray: ElementList {}
extension Set: ElementList {}

/// The entries that no type has a key for.
final class UnknownEntries {
    private(set) var names: [[String]: Set<String>] = [:]

    func removeAll() { names = [:] }

    /// Notes the entries of one dictionary that one container does not know. What another container
    /// of the same dictionary knows is not unknown.
    func note(_ unknown: Set<String>, at path: [any CodingKey]) {
        let path = path.map(\.stringValue)
        names[path] = names[path]?.intersection(unknown) ?? unknown
    }

    /// The entries, as they are stored.
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
