/// What a decoder did about entries that it could not read, or that the type does not know.
struct DecodingRecovery: Sendable {
    /// An entry of a dictionary that the type did not read.
    struct Entry: Sendable {
        let path: [String]
        let stored: PropertyList
        /// The value that was decoded in its place; `nil` if there was none.
        let replacement: PropertyList?
        /// Whether the entry could not be read, and is not just unknown to the type.
        let isFault: Bool
    }
    /// The entries that a later write keeps, unless it changes what was decoded in their place.
    var entries: [Entry] = []
    /// The errors, one for each replaced path.
    var errors: [DefaultsError] = []
    /// Whether a write loses a part that is missing from `entries`, such as an element of an array
    /// that cannot be read.
    var losesParts = false
    /// The outermost arrays around parts that could not be read.
    var arrays: Set<[String]> = []

    var isEmpty: Bool { entries.isEmpty && errors.isEmpty && !losesParts && arrays.isEmpty }

    /// Returns the losses of a write to a value in foreign data, which the write replaces as a
    /// whole.
    func ofForeignData(_ log: DecodingLog) -> DecodingRecovery {
        let losesParts =
            losesParts || !arrays.isEmpty || !entries.isEmpty || log.unknown.values.contains { !$0.isEmpty }
        return DecodingRecovery(errors: errors, losesParts: losesParts)
    }

    /// Puts the entries back into the value that replaces the stored one.
    ///
    /// - Returns: The value to store, whether it holds any of the entries, and the error to report
    ///   if it lacks parts that could not be read, or entries of elements of an array.
    func merged(into new: PropertyList) -> (new: PropertyList, keepsEntries: Bool, lost: DefaultsError?) {
        var (merged, keepsEntries, losesParts) = (new, false, losesParts)
        // JSON takes the place of a property list.
        if case .data = new, !entries.isEmpty { losesParts = true }
        for entry in entries {
            let isKept = merged.edit(entry.path[...]) { part, place -> Bool? in
                if part == entry.stored { return true }
                // The new value may have an array around the entry, or another value in its place.
                guard place == .dictionary, part == entry.replacement else {
                    // The array has changed.
                    if part != nil, entry.replacement != nil { losesParts = true }
                    return nil
                }
                part = entry.stored
                return true
            }
            if isKept == true { keepsEntries = true } else if entry.isFault { losesParts = true }
        }
        let unknown = DefaultsError(.unreadable, reason: "the old value has entries that the type does not know")
        return (merged, keepsEntries, losesParts ? errors.first ?? unknown : nil)
    }
}

// Parts of trees.
extension PropertyList {
    /// Where a part is.
    enum Place { case dictionary, array }

    /// The entry of a dictionary at a path; `nil` if there is none.
    func entry(at path: ArraySlice<String>) -> PropertyList? {
        guard let key = path.first else { return self }
        guard case .dictionary(let entries) = self else { return nil }
        return entries[key]?.entry(at: path.dropFirst())
    }

    /// Changes the part at a path.
    ///
    /// - Parameter change: Takes an entry, which is `nil` if it is missing, or an element, which it
    ///   cannot remove, and whether there is an array anywhere around it.
    /// - Returns: `nil` if there is nothing at the path.
    mutating func edit<Result>(
        _ path: ArraySlice<String>, in place: Place = .dictionary,
        _ change: (inout PropertyList?, Place) -> Result?
    ) -> Result? {
        guard let key = path.first else {
            var part = Optional(self)
            guard let result = change(&part, place), let part else { return nil }
            self = part
            return result
        }
        if var entries = takeEntries() {
            defer { self = .dictionary(entries) }
            return path.count == 1
                ? change(&entries[key], place) : entries[key]?.edit(path.dropFirst(), in: place, change)
        }
        if var elements = takeElements() {
            defer { self = .array(elements) }
            guard let index = Int(key), elements.indices.contains(index) else { return nil }
            return elements[index].edit(path.dropFirst(), in: .array, change)
        }
        return nil
    }

    // A `switch` over both would keep a second reference until the end of its case, so changing one
    // entry would copy all others.
    private mutating func takeEntries() -> [String: PropertyList]? {
        guard case .dictionary(let entries) = self else { return nil }
        self = .bool(false)
        return entries
    }

    private mutating func takeElements() -> [PropertyList]? {
        guard case .array(let elements) = self else { return nil }
        self = .bool(false)
        return elements
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
}
