import SettingsFile

extension FileInspection {
    /// Inspects a file of property lists. Returns `nil` if it does not exist.
    package init?(_ path: String) throws(DefaultsError) {
        do throws(SettingsFileError) {
            try self.init(path: path) { ByteReader.wholeValue($0) != nil }
        } catch {
            throw DefaultsError(error)
        }
    }

    /// The stored values.
    package var contents: SuiteContents {
        var trees: [ByteString: PropertyList] = [:]
        for (key, value) in values { trees[ByteString(key)] = value.withUnsafeBytes(ByteReader.wholeValue) }
        var unknown: [ByteString: DefaultsError] = [:]
        for key in keys where trees[ByteString(key)] == nil { unknown[ByteString(key)] = .unreadableBytes(key) }
        return SuiteContents(base: SuiteContents.Base(trees, unknown: unknown))
    }

    /// The last edit of each key in valid records after the damage, sorted by key; `nil` for a
    /// removal.
    ///
    /// These values are no longer part of the suite: the damage separates them from it, and newer
    /// values may have been written since.
    package var salvageableValues: [(key: String, value: PropertyList?)] {
        salvageable.map { ($0.key, $0.value?.withUnsafeBytes(ByteReader.wholeValue)) }
    }
}
