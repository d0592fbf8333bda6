import SettingsFile

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension DefaultsSuite {
    /// When a change survives a power failure. It survives a crash of the process as soon as it is made.
    public enum Durability: Sendable {
        /// Within a second, at a normal exit, and when ``DefaultsSuite/synchronize()`` has returned.
        case process
        /// As soon as it is made. A `set` or `save` takes as long as the disk does. One that throws because the disk could not be
        /// flushed has changed the value for every reader, but the change may not survive a power failure.
        case immediate
    }

    /// A suite in a settings file of its own, which any number of processes may use at once. Suites on one file share everything.
    ///
    /// The file is made when it is first written. One that cannot be read is *unavailable* when a setting is asked for, not here.
    ///
    /// - Important: On iOS not for the folder of an app group, see <doc:OnApplePlatforms>.
    ///
    /// - Parameters:
    ///   - file: Where the file is, or shall be.
    ///   - durability: When a change is safe from a loss of power; of several suites on one file the first one's counts.
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/invalidName`` if the URL is not that of a file, or if the file's name has more than
    ///   250 bytes, a NUL byte, or the form `.<name>.new`, which is used for temporary files.
    public init(file: URL, durability: Durability = .process) throws {
        guard file.isFileURL, !file.hasDirectoryPath, file.path.utf8.first == UInt8(ascii: "/") else {
            throw DefaultsError(.invalidName, reason: "a settings file needs the URL of a file")
        }
        if let problem = SettingsFile.problem(ofName: file.lastPathComponent) {
            throw DefaultsError(.invalidName, reason: problem)
        }
        let folder = file.deletingLastPathComponent().resolvingSymlinksInPath().path
        let path = (folder == "/" ? "" : folder) + "/" + file.lastPathComponent
        core = SuiteCore.shared(id: ByteString(path)) { FileBackend(path: path, durability: durability) }
    }
}
