import SettingsFile

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension DefaultsSuite {
    /// A copy of a value that could not be read, made before the value was overwritten.
    public struct SetAsideValue: Sendable {
        /// The key of the setting.
        public let key: String
        /// The key of the copy: `<key>.unreadable`, or `<key>.unreadable-2` for the latest of
        /// several copies.
        public let copyKey: String
        /// The value as it was stored; `nil` if the suite itself cannot read it, because a newer
        /// version of the library wrote it.
        public let value: PropertyList?
        /// When the copy was made, in whole seconds; `nil` if that is not known.
        public let date: Date?
        /// Why the value could not be read; `nil` if that is not known.
        public let reason: String?
    }

    /// The values that could not be read and were set aside before they were overwritten, sorted by
    /// the keys of the copies.
    ///
    /// ```swift
    /// for copy in try suite.setAside where copy.key == "quality" { try suite.restore(copy) }
    /// ```
    ///
    /// Of each setting the first and the latest such value are kept. A copy that an older version
    /// of the library made has no ``SetAsideValue/date`` and no ``SetAsideValue/reason``. An export
    /// by ``SuiteContents/json()`` contains the copies, except those without a value.
    ///
    /// - Throws: A ``DefaultsError`` if the suite cannot be read.
    public var setAside: [SetAsideValue] {
        get throws {
            let suite = current
            return try suite.asOfOneMoment { () throws(DefaultsError) in
                var copies: [SetAsideValue] = []
                for name in try suite.keysInScope().map(suite.withoutPrefix).sortedByBytes() {
                    guard let key = SetAside.key(ofCopy: name), let stored = try suite.stored(name) else { continue }
                    let info = SetAside.Info(try? suite.stored(SetAside.infoKey(ofCopy: name))?.get())
                    copies.append(
                        SetAsideValue(
                            key: key, copyKey: name, value: try? stored.get(), date: info.date, reason: info.reason))
                }
                return copies
            }
        }
    }

    /// Puts a value that was set aside back under its key, as one commit.
    ///
    /// If another value is stored there by now, it takes the place of the copy, so nothing is lost
    /// and a second call undoes the first. Otherwise the copy is removed.
    ///
    /// - Throws: A ``DefaultsError``: of kind ``DefaultsError/Kind/unreadable`` if the suite itself
    ///   cannot read the copy or what is stored under the key, and ``DefaultsError/Kind/refused``
    ///   if the copy has changed since it was listed. Then nothing is written.
    public func restore(_ copy: SetAsideValue) throws {
        let suite = current
        try suite.core.write { () throws(DefaultsError) in
            try suite.check(copy)
            guard let value = copy.value else {
                throw DefaultsError(
                    .unreadable, key: suite.withPrefix(copy.copyKey),
                    reason: "the copy is not a value that this version can read")
            }
            let key = suite.withPrefix(copy.key)
            var edits: [(key: String, value: PropertyList?)] = [(key, value)]
            if let replaced = try suite.stored(copy.key)?.get(), replaced != value {
                let name = suite.withPrefix(copy.copyKey)
                edits.append((name, replaced))
                let error = DefaultsError(.unreadable, reason: "it was replaced by a value that had been set aside")
                edits += SetAside.info(ofCopy: name, error, keyLimit: suite.core.backend.keyLimit)
            } else {
                edits += suite.removals(of: copy)
            }
            try suite.core.commit(edits)
        }
    }

    /// Removes a copy of a value that could not be read.
    ///
    /// - Throws: A ``DefaultsError``, of kind ``DefaultsError/Kind/refused`` if the copy has
    ///   changed since it was listed. Then nothing is removed.
    public func discard(_ copy: SetAsideValue) throws {
        let suite = current
        try suite.core.write { () throws(DefaultsError) in
            try suite.check(copy)
            try suite.core.commit(suite.removals(of: copy))
        }
    }

    /// Throws unless the copy is as it was listed.
    private func check(_ copy: SetAsideValue) throws(DefaultsError) {
        let stored = try stored(copy.copyKey)
        guard let stored, copy.value == (try? stored.get()) else {
            throw DefaultsError(
                .refused, key: withPrefix(copy.copyKey), reason: "the copy has changed; read `setAside` again")
        }
    }

    private func removals(of copy: SetAsideValue) -> [(key: String, value: PropertyList?)] {
        [copy.copyKey, SetAside.infoKey(ofCopy: copy.copyKey)].map { (withPrefix($0), nil) }
    }
}

extension DefaultsSuite.SetAsideValue: DiscreetlyDescribed {
    /// The key of the copy, and no value.
    public var description: String { "SetAsideValue(“\(copyKey)”)" }
}

/// Where a value is kept that cannot be read: under `<key>.unreadable`, or `<key>.unreadable-2` if
/// another one is there. So the first one and the latest one stay.
///
/// Two declarations of one key as different types make each other's values unreadable at every
/// write, so the number of copies has a limit. The date and the reason are a separate entry with
/// the suffix `-info`, because other programs read the copies.
enum SetAside {
    /// Returns the keys for the first copy and for the latest one.
    static func copyKeys(of key: String) -> (first: String, latest: String) {
        ("\(key).unreadable", "\(key).unreadable-2")
    }

    static func infoKey(ofCopy name: String) -> String { "\(name)-info" }

    static func isInfo(_ key: String) -> Bool {
        key.utf8.hasSuffix(".unreadable-info") || key.utf8.hasSuffix(".unreadable-2-info")
    }

    /// Returns the key of the setting, or `nil` if the key is not that of a copy.
    static func key(ofCopy name: String) -> String? {
        for suffix in [".unreadable", ".unreadable-2"] where name.utf8.hasSuffix(suffix) {
            return String(decoding: name.utf8.dropLast(suffix.utf8.count), as: UTF8.self)
        }
        return nil
    }

    /// Returns the edits that keep a value.
    ///
    /// - Parameters:
    ///   - error: Why the value cannot be read; afterward it names the copy.
    ///   - isFree: Whether nothing, or an equal value, is stored under the key of the first copy.
    static func edits(
        keeping value: PropertyList, of key: String, isFree: Bool, _ error: inout DefaultsError, keyLimit: Int
    ) -> [(key: String, value: PropertyList?)] {
        let (first, latest) = copyKeys(of: key)
        let copy = isFree ? first : latest
        let info = info(ofCopy: copy, error, keyLimit: keyLimit)
        error.reason += "; it is kept under “\(copy)”"
        return [(copy, value)] + info
    }

    /// Returns the edit that stores when and why a copy was made; empty if the place does not take
    /// so long a key.
    static func info(
        ofCopy name: String, _ error: DefaultsError, keyLimit: Int
    ) -> [(key: String, value: PropertyList?)] {
        let key = infoKey(ofCopy: name)
        guard key.utf8.count <= keyLimit else { return [] }
        var error = error
        error.key = nil
        // A whole second, because Foundation on Linux stores no fractions.
        let date = Date(timeIntervalSinceReferenceDate: Date().timeIntervalSinceReferenceDate.rounded(.down))
        return [(key, ["date": .date(date), "reason": .string("\(error)")])]
    }

    struct Info {
        var date: Date?
        var reason: String?

        init(_ stored: PropertyList?) {
            guard case .dictionary(let entries)? = stored else { return }
            if case .date(let date)? = entries["date"] { self.date = date }
            if case .string(let reason)? = entries["reason"] { self.reason = reason }
        }
    }
}

extension String.UTF8View {
    fileprivate func hasSuffix(_ suffix: String) -> Bool { reversed().starts(with: suffix.utf8.reversed()) }
}
