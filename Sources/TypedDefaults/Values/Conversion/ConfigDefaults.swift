import SettingsFile

// What a config stores
// ====================
//
// `save`, `set` and `value =` store the whole value. An update stores the entries that it changed
// and those that were stored before. Every other entry is left out, so that it takes the default of
// the release that reads it.
//
// An entry is left out only if the type reads it from the default, which is so if decoding fails
// without it: the decoder then supplies the entry of the default. An optional, whose missing entry
// reads as nil, and what a hand-written `init(from:)` reads in its own way, are always stored. So
// is an entry that differs between two new instances, such as a `UUID()`. Each new combination of
// entries to leave out is tried once: the rest must read back equal.

/// The default of a config type, entry by entry.
final class ConfigDefaults: Sendable {
    private struct State {
        /// The entries of the default without which the type cannot be decoded, as far as known.
        var required: [String: PropertyList] = [:]
        /// The entries that an update may leave out; `nil` until the first update.
        var optional: [(key: String, value: PropertyList)]?
        /// The combinations of these that were tried, as bits.
        var tried: Set<[UInt64]> = []
    }
    private let state = Locked(State())
    /// The default in its stored form; `nil` if it is not a dictionary.
    private let entries: [String: PropertyList]?
    /// Returns the stored form of another new instance.
    private let another: @Sendable () -> PropertyList?
    /// Returns the form in which a stored value is stored again after it was read.
    private let rewritten: @Sendable (PropertyList) -> PropertyList?

    init<Config: DefaultConfig>(_ type: Config.Type) {
        let implementation = DefaultImplementation<Config>()
        let encoded = { @Sendable (value: Config) in (try? implementation.encode(value))?.tree }
        entries = encoded(type.defaultInstance)?.entries
        another = { encoded(type.init()) }
        rewritten = { stored in
            // Safe: all boxes of this decoder are of this class.
            (try? implementation.decodeBox(.tree(stored), .stored).get()).flatMap {
                encoded(unsafeDowncast($0, to: Box<Config>.self).value)
            }
        }
    }

    /// The entries that the decoder supplies if a stored value lacks them.
    var required: [String: PropertyList] { state.withLock { $0.required } }

    /// Records that decoding has failed because an entry is missing.
    ///
    /// - Returns: Whether the decoder can supply the entry, so that decoding again may succeed.
    func supplies(_ error: any Error) -> Bool {
        guard case DecodingError.keyNotFound(let key, let context) = error, context.codingPath.isEmpty,
            let entry = entries?[key.stringValue]
        else { return false }
        return state.withLock { $0.required.updateValue(entry, forKey: key.stringValue) == nil }
    }

    private var optional: [(key: String, value: PropertyList)] {
        if let known = state.withLock({ $0.optional }) { return known }
        // Decoding a value without entries finds those that are required.
        _ = rewritten(.dictionary([:]))
        let another = another()?.entries ?? [:]
        let found = required.filter { another[$0.key] == $0.value }.map { (key: $0.key, value: $0.value) }
            .sortedByBytes()
        state.withLock { $0.optional = found }
        return found
    }

    /// Returns what an update stores.
    ///
    /// - Parameters:
    ///   - new: The whole new value.
    ///   - old: The stored value; `nil` if there is none.
    ///   - forgets: Whether to leave out an entry that is stored and changes to the default.
    ///   - behind: The value that counts while none is stored; `nil` if that is the default.
    /// - Returns: `nil` if nothing is stored that can be read, and the new value is what counts
    ///   without a stored one.
    func chosen(
        in new: PropertyList, over old: PropertyList?, forgets: Bool = false, behind: PropertyList? = nil
    ) -> PropertyList? {
        guard var chosen = new.entries else { return new }
        var stored = old?.entries
        if case .data(let data)? = old { stored = ForeignData(data)?.tree.entries }
        if stored == nil, new == behind ?? entries.map(PropertyList.dictionary) { return nil }
        let optional = optional
        var left = [UInt64](repeating: 0, count: optional.count / 64 + 1)
        for (index, entry) in optional.enumerated()
        where chosen[entry.key] == entry.value {
            if let stored = stored?[entry.key], !forgets || stored == entry.value { continue }
            chosen[entry.key] = nil
            left[index / 64] |= 1 << UInt64(index % 64)
        }
        guard left.contains(where: { $0 != 0 }) else { return new }
        let result = PropertyList.dictionary(chosen)
        if !state.withLock({ $0.tried.contains(left) }) {
            guard rewritten(result) == new else { return new }
            state.withLock { state in
                // A type with many properties must not fill the memory.
                if state.tried.count == 256 { state.tried = [] }
                state.tried.insert(left)
            }
        }
        return result
    }
}

extension DefaultConfig {
    /// The default of the type, entry by entry.
    static var defaults: ConfigDefaults { ConfigDefaults.of(self) }
}

extension ConfigDefaults {
    private static let known = Locked<[ObjectIdentifier: ConfigDefaults]>([:])

    fileprivate static func of<Config: DefaultConfig>(_ type: Config.Type) -> ConfigDefaults {
        let id = ObjectIdentifier(type)
        if let found = known.withLock({ $0[id] }) { return found }
        // Outside the lock, because this runs code of the program.
        let new = ConfigDefaults(type)
        return known.withLock { known in
            if let found = known[id] { return found }
            known[id] = new
            return new
        }
    }
}

extension PropertyList {
    fileprivate var entries: [String: PropertyList]? {
        if case .dictionary(let entries) = self { entries } else { nil }
    }
}
