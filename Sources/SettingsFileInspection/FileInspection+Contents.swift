import SettingsFile
package import TypedDefaults

extension FileInspection {
    /// Inspects a file of property lists. Returns `nil` if it does not exist.
    package init?(_ path: String) throws(DefaultsError) {
        do throws(SettingsFileError) {
            try self.init(path: path) { ByteReader.wholeValue($0) != nil }
        } catch {
            throw DefaultsError(error)
        }
    }

    /// Replaces a file with a damaged header by one with the values that can be read.
    ///
    /// - Returns: The path of a copy of all bytes, and the old file; `nil` if there is no file, or
    ///   its header is not damaged.
    package static func repair(_ path: String) throws(DefaultsError) -> (copy: String, old: FileInspection)? {
        do throws(SettingsFileError) {
            return try repair(path: path) { ByteReader.wholeValue($0) != nil }
        } catch {
            throw DefaultsError(error)
        }
    }

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
