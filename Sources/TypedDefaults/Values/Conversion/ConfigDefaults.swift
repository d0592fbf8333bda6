import SettingsFile

/// The default of a config type, entry by entry.
final class ConfigDefaults: Sendable {
    /// The stored form of the default; `nil` if it cannot be stored.
    let whole: PropertyList?
    /// The names of entries that differ between two new instances, such as a `UUID()`; `nil` if
    /// there are none.
    let unstable: [String]?
    /// The entries without which the type cannot be decoded, as far as known.
    private let required = Locked<[(name: String, node: PropertyList)]>([])

    init<Config: DefaultConfig>(_ type: Config.Type) {
        let implementation = DefaultImplementation<Config>()
        whole = try? implementation.encode(type.defaultInstance)
        let (one, other) = (whole?.entries ?? [:], (try? implementation.encode(type.init()))?.entries ?? [:])
        let unstable = one.keys.filter { one[$0] != other[$0] }
        self.unstable = unstable.isEmpty ? nil : unstable
    }

    /// Returns whether one of the entries of a dictionary is also one of the default.
    func hasEntry(of stored: PropertyList) -> Bool {
        guard case .dictionary(let entries) = stored, case .dictionary(let known)? = whole else { return false }
        return entries.keys.contains { known[$0] != nil }
    }

    /// The entries that the decoder supplies if a stored value lacks them.
    var supplied: [(name: String, node: PropertyList)] { required.withLock { $0 } }

    /// Records that decoding has failed because an entry is missing.
    ///
    /// - Returns: Whether the decoder can supply the entry, so that decoding again may succeed.
    func supplies(_ error: any Error) -> Bool {
        guard case DecodingError.keyNotFound(let key, let context) = error, context.codingPath.isEmpty,
            let entry = whole?.entries?[key.stringValue]
        else { return false }
        return required.withLock { required in
            guard !required.contains(where: { $0.name == key.stringValue }) else { return false }
            required.append((key.stringValue, entry))
            return true
        }
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
