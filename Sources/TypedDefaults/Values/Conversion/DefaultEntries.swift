import SettingsFile

/// A default in its stored form, entry by entry. What a stored value lacks is taken from it.
final class DefaultEntries: Sendable {
    typealias Entry = (path: [String], node: PropertyList)

    /// The form that the type writes; `nil` if the default cannot be stored.
    let whole: PropertyList?
    /// The form that the coder writes.
    let tree: PropertyList?
    /// The names of entries that differ between two new instances, such as a `UUID()`; `nil` if
    /// there are none.
    let unstable: [String]?
    /// The optionals that are not nil, at any depth outside of arrays: where a stored value lacks
    /// one, the type would read nil. Also those that are nil inside another config, whose own
    /// default would be read.
    private let optionals: [Entry]
    /// The entries without which the type cannot be decoded, as far as known.
    private let required = Locked<[(name: String, node: PropertyList)]>([])

    private init<Value: Encodable>(_ value: Value, whole: PropertyList? = nil, unstable: [String]? = nil) {
        let paths = OptionalPaths()
        let tree = (try? PropertyList.encoding(value, RootTraits(Value.self), noting: paths)) ?? nil
        (self.tree, self.whole, self.unstable) = (tree, whole ?? tree, unstable)
        optionals = paths.all.compactMap { path in tree?.entry(at: path[...]).map { (path, $0) } }
    }

    /// The default of a key.
    static func of<Value: Encodable>(_ value: Value) -> DefaultEntries { DefaultEntries(value) }

    /// The default of a type, which is created once.
    static func of<Config: DefaultConfig>(type: Config.Type) -> DefaultEntries {
        known.object(of: type) {
            let implementation = DefaultImplementation<Config>()
            let whole = try? implementation.encode(type.defaultInstance)
            let (one, other) = (whole?.entries ?? [:], (try? implementation.encode(type.init()))?.entries ?? [:])
            let unstable = one.keys.filter { one[$0] != other[$0] }
            return DefaultEntries(type.defaultInstance, whole: whole, unstable: unstable.isEmpty ? nil : unstable)
        }
    }
    private static let known = PerType<DefaultEntries>()

    /// Returns whether one of the entries of a dictionary is also one of the default.
    func hasEntry(of stored: PropertyList) -> Bool {
        guard let entries = stored.entries, let known = tree?.entries else { return false }
        return entries.keys.contains { known[$0] != nil }
    }

    /// Returns a tree with the optionals that it lacks, and their paths.
    func filling(_ tree: PropertyList) -> (tree: PropertyList, paths: Set<[String]>) {
        guard !optionals.isEmpty, case .dictionary = tree else { return (tree, []) }
        var (tree, paths) = (tree, Set<[String]>())
        for (path, node) in optionals {
            _ = tree.edit(path[...]) { part, place -> Void? in
                guard part == nil, place == .dictionary else { return nil }
                part = node
                paths.insert(path)
                return ()
            }
        }
        return (tree, paths)
    }

    /// Returns the entries that the decoder supplies if a stored value lacks them. One that the
    /// default does not know may be one of them under an older name.
    func supplied(to stored: PropertyList) -> [(name: String, node: PropertyList)] {
        let required = required.withLock { $0 }
        guard !required.isEmpty, let entries = stored.entries, let known = tree?.entries else { return [] }
        return entries.keys.allSatisfy { known[$0] != nil } ? required : []
    }

    /// Records that decoding has failed because an entry is missing.
    ///
    /// - Returns: Whether the decoder can supply the entry, so that decoding again may succeed.
    func supplies(_ error: any Error) -> Bool {
        guard case DecodingError.keyNotFound(let key, let context) = error, context.codingPath.isEmpty,
            let entry = tree?.entries?[key.stringValue]
        else { return false }
        return required.withLock { required in
            guard !required.contains(where: { $0.name == key.stringValue }) else { return false }
            required.append((key.stringValue, entry))
            return true
        }
    }
}

/// The entries of a default, which are found when a stored value is decoded.
final class LazyDefault: Sendable {
    private let known: DefaultEntries?
    private let found = Locked<DefaultEntries?>(nil)
    private let find: @Sendable () -> DefaultEntries?

    init<Value: Encodable & Sendable>(_ value: Value) { (known, find) = (nil, { .of(value) }) }
    init(_ entries: DefaultEntries) { (known, find) = (entries, { nil }) }

    var entries: DefaultEntries? {
        if let entries = known ?? found.withLock({ $0 }) { return entries }
        // Outside the lock, because this runs code of the program.
        let new = find()
        found.withLock { $0 = new }
        return new
    }
}

extension DefaultConfig {
    /// The default of the type, entry by entry.
    static var defaults: DefaultEntries { .of(type: self) }
}
