/// What a decoder did about parts that it could not read.
struct DecodingRecovery: Sendable {
    /// A stored part that was not read.
    struct Fault: Sendable {
        let path: [String]
        let error: DefaultsError
    }
    var faults: [Fault] = []
    /// The errors to report. One may stand for all parts of a collection.
    var errors: [DefaultsError] = []
    /// The errors of all parts.
    var all: [DefaultsError] = []

    var isEmpty: Bool { faults.isEmpty && errors.isEmpty }

    /// The recovery from a dictionary of which the type has no entry.
    static func unread(by type: Any.Type) -> DecodingRecovery {
        let error = DefaultsError(
            .unreadable, type: "\(unwrapped(type))",
            reason: "the type knows none of the stored entries; its defaults are used, and the entries are kept")
        return DecodingRecovery(errors: [error], all: [error])
    }

    mutating func add(_ error: DefaultsError) {
        errors.append(error)
        all.append(error)
        faults.append(Fault(path: error.path, error: error))
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
