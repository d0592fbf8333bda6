import SettingsFile

extension SuiteContents {
    /// The keys whose values differ between two contents.
    public struct Difference: Sendable, Equatable, CustomStringConvertible {
        /// The keys that only the new contents have, sorted.
        public let added: [String]
        /// The keys that only the old contents have, sorted.
        public let removed: [String]
        /// The keys that both have with different values, sorted.
        public let changed: [String]

        /// Whether both contents are equal.
        public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

        /// The keys, one on each line behind `+`, `-` or `~`, and no value.
        public var description: String {
            let lines = added.map { "+ \($0)" } + removed.map { "- \($0)" } + changed.map { "~ \($0)" }
            return lines.joined(separator: "\n")
        }
    }

    /// Returns the keys that these contents have and the other ones lack, and so on.
    ///
    /// ```swift
    /// let before = try suite.contents()
    /// var after = before
    /// try migrator.migrate(&after)
    /// print(after.difference(from: before))
    /// ```
    public func difference(from other: SuiteContents) -> Difference {
        let (new, old) = (values, other.values)
        func sorted(_ keys: [ByteString]) -> [String] { keys.map(\.string).sortedByBytes() }
        return Difference(
            added: sorted(new.keys.filter { old[$0] == nil }), removed: sorted(old.keys.filter { new[$0] == nil }),
            changed: sorted(new.keys.filter { old[$0] != nil && old[$0] != new[$0] }))
    }
}
