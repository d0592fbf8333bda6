import SettingsFile

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The state of a settings file, and the values that can be recovered from a damaged one, for the
/// command-line tool.
package struct SettingsFileInspection: Sendable {
    private let file: FileInspection
    /// What is wrong, in phrases that follow the file's name and contain no stored value. Empty if
    /// nothing is wrong.
    package var problems: [String] { file.problems }
    /// Whether ``contents`` has all keys of the suite, including
    /// ``SuiteContents/unreadableKeys``. False if the file is damaged, or if the library cannot use
    /// it, because of its format, owner or folder.
    ///
    /// An unfinished record at the end, whose writer died, is a problem but not damage: its write
    /// has never returned, or was not flushed before a power failure.
    package var isComplete: Bool { file.isComplete }
    /// The version of the file format; `nil` if the header cannot be read.
    package var version: Int? { file.version }
    /// The number of times that the file was replaced; `nil` if the header cannot be read.
    package var epoch: UInt64? { file.epoch }
    /// The size of the file in bytes.
    package var size: Int { file.size }
    /// The offset at which the last valid record ends, in bytes.
    package var end: Int { file.end }
    /// The number of valid records.
    package var records: Int { file.records }
    /// The approximate number of bytes that the current values take. Other records are superseded.
    package var liveBytes: Int { file.liveBytes }
    /// The stored keys, sorted.
    package var keys: [String] { file.keys }
    /// The stored values.
    package let contents: SuiteContents
    /// The last edit of each key in valid records after the damage, sorted by key; `nil` for a
    /// removal.
    ///
    /// These values are no longer part of the suite: the damage separates them from it, and newer
    /// values may have been written since.
    package let salvageable: [(key: String, value: PropertyList?)]

    /// Reads a settings file and leaves it unchanged.
    ///
    /// Waits up to two seconds for another process that is writing. A copy of damage,
    /// `<name>.damaged-<crc>`, is reported as not a settings file, together with the values that
    /// can be recovered from it.
    ///
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unavailable`` if the file does
    ///   not exist or cannot be read.
    package init(file: URL) throws {
        guard file.isFileURL, !file.hasDirectoryPath else {
            throw DefaultsError(.unavailable, reason: "a settings file needs a file URL that does not end with a slash")
        }
        guard let inspection = try FileInspection(file.path) else {
            throw DefaultsError(.unavailable, reason: "the file \(file.path) does not exist")
        }
        self.file = inspection
        contents = inspection.contents
        salvageable = inspection.salvageable.map { ($0.key, $0.value?.withUnsafeBytes(ByteReader.wholeValue)) }
    }
}

extension FileInspection {
    /// Inspects a file of property lists. Returns `nil` if it does not exist.
    init?(_ path: String) throws(DefaultsError) {
        do throws(SettingsFileError) {
            try self.init(path: path) { ByteReader.wholeValue($0) != nil }
        } catch {
            throw DefaultsError(error)
        }
    }

    /// The stored values.
    var contents: SuiteContents {
        var trees: [ByteString: PropertyList] = [:]
        for (key, value) in values { trees[ByteString(key)] = value.withUnsafeBytes(ByteReader.wholeValue) }
        var unknown: [ByteString: DefaultsError] = [:]
        for key in keys where trees[ByteString(key)] == nil { unknown[ByteString(key)] = .unreadableBytes(key) }
        return SuiteContents(base: SuiteContents.Base(trees, unknown: unknown))
    }
}
