// Decodes a value of which some stored parts cannot be read, and lets a later write keep the parts
// that this version of the program does not know.

/// What a decoder did about entries that it could not read, or that the type does not know.
struct DecodingRecovery: Sendable {
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
    /// The errors, one for each replaced path.
    var errors: [DefaultsError] = []
    /// Whether a part that cannot be read is missing from `entries`, such as an element of an
    /// array.
    var hasOtherFaults = false

    var isEmpty: Bool { entries.isEmpty && errors.isEmpty }

    /// Puts the entries back into the value that replaces the stored one.
    ///
    /// - Returns: The value to store, the entries in it, and whether it keeps all parts that could
    ///   not be read.
    func merged(into new: PropertyList) -> (new: PropertyList, kept: DecodingRecovery, isComplete: Bool) {
        // JSON in data.
        let json =
            if case .data(let data) = new, !entries.isEmpty { try? EmbeddedData(data).tree } else { PropertyList?.none }
        var merged = json ?? new
        var kept = DecodingRecovery()
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

extension DecodingRecovery {
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

    /// The entry of a dictionary at a path; `nil` if there is none.
    subscript(path: ArraySlice<String>) -> PropertyList? {
        guard let key = path.first else { return self }
        guard case .dictionary(let entries) = self else { return nil }
        return entries[key]?[path.dropFirst()]
    }

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
    func entries(in stored: PropertyList) -> [DecodingRecovery.Entry] {
        names.flatMap { path, names in
            names.compactMap { name in
                stored[(path + [name])[...]].map {
                    DecodingRecovery.Entry(path: path + [name], stored: $0, placed: nil, isFault: false)
                }
            }
        }
    }
}
