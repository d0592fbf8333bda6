extension SuiteContents {
    /// The keys whose values differ between two contents.
    public struct Difference: Sendable, Equatable, CustomStringConvertible {
        /// The keys that only the new contents have, sorted.
        public let added: [String]
        /// The keys that only the old contents have, sorted.
        public let removed: [String]
        /// The keys that both have with different values, sorted.
        public let changed: [String]

        /// The keys, one on each line behind `+`, `-` or `~`, and no value.
        public var description: String {
            let lines = added.map { "+ \($0)" } + removed.map { "- \($0)" } + changed.map { "~ \($0)" }
            return lines.joined(separator: "\n")
        }
    }

    /// Returns the keys that were added, removed and changed compared with other contents.
    ///
    /// ```swift
    /// let before = try suite.contents()
    /// var after = before
    /// try migrator.migrate(&after)
    /// print(after.difference(from: before))
    /// ```
    public func difference(from other: SuiteContents) -> Difference {
        func byBytes(_ contents: SuiteContents) -> [[UInt8]: PropertyList] {
            Dictionary(uniqueKeysWithValues: contents.map { (Array($0.key.utf8), $0.value) })
        }
        let (new, old) = (byBytes(self), byBytes(other))
        return Difference(
            added: keys.filter { old[Array($0.utf8)] == nil },
            removed: other.keys.filter { new[Array($0.utf8)] == nil },
            changed: filter { key, value in old[Array(key.utf8)].map { $0 != value } ?? false }.map(\.key))
    }
}
