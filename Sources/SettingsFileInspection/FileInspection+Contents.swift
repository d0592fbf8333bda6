import SettingsFile
package import TypedDefaults

extension FileInspection {
    /// The stored values.
    package var contents: SuiteContents {
        let trees = values.map { (key: $0.key, value: $0.value.withUnsafeBytes(ByteReader.wholeValue)) }
        let readable = Set(trees.compactMap { $0.value == nil ? nil : ByteString($0.key) })
        return SuiteContents(
            stored: trees.compactMap { tree in tree.value.map { (tree.key, $0) } },
            unreadable: keys.filter { !readable.contains(ByteString($0)) }.map(DefaultsError.unreadableBytes),
            isComplete: isComplete)
    }

    /// The number of settings, readable or not.
    package var settingCount: Int { keys.count { !Histories.isHistory($0) } }

    /// The last edit of each key in valid records after the damage, sorted by key; `nil` for a
    /// removal.
    ///
    /// These values are no longer part of the suite: the damage separates them from it, and newer
    /// values may have been written since.
    package var salvageableValues: [(key: String, value: PropertyList?)] {
        salvageable.map { ($0.key, $0.value?.withUnsafeBytes(ByteReader.wholeValue)) }
    }
}
