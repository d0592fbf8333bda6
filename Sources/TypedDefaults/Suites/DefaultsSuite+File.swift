import SettingsFile

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension DefaultsSuite {
    /// When a change to a settings file survives a power failure. Every change immediately survives
    /// a crash of the process.
    public enum Durability: Sendable {
        /// Within a second, at a normal exit, and when ``DefaultsSuite/synchronize()`` returns. If
        /// the flush fails, it is tried again after increasing delays of up to a minute, and at a
        /// normal exit.
        case process
        /// Immediately. A write takes as long as the disk does. If it throws because the flush
        /// failed, all readers see the change, but it may not survive a power failure.
        case immediate
    }

    /// Creates a suite in a settings file, which any number of processes may use at once.
    ///
    /// Suites of the same path share their observers and cached values. In a path, `.`, `..` and
    /// empty components are removed by name, before any link is followed. Links are followed at
    /// each write, so a suite of a link is another one than a suite of its target.
    ///
    /// The first write creates the file. If the file cannot be read, this initializer succeeds, and
    /// access to settings fails with ``DefaultsError/Kind/unavailable``.
    ///
    /// - Important: On iOS, tvOS, watchOS and visionOS, use this only in the app itself, for a file
    ///   in the app's own container, and not in an extension or an app group; see
    ///   <doc:OnApplePlatforms>.
    ///
    /// - Parameters:
    ///   - file: The file. It need not exist yet.
    ///   - durability: When a change survives a power failure. If several suites use one file, the
    ///     first one decides.
    /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/invalidName`` if the URL is not a
    ///   file URL, or if the file name has more than 250 bytes, contains a NUL byte, or has the
    ///   form `.<name>.new`, which is used for temporary files.
    public init(file: URL, durability: Durability = .process) throws {
        guard file.isFileURL, !file.hasDirectoryPath, file.path.utf8.first == UInt8(ascii: "/") else {
            throw DefaultsError(.invalidName, reason: "a settings file needs a file URL that does not end with a slash")
        }
        if let problem = SettingsFileLocation.problem(ofName: file.lastPathComponent) {
            throw DefaultsError(.invalidName, reason: problem)
        }
        // Links are not resolved: they may lead elsewhere later.
        let path = SettingsFileLocation.normalized(file.path)
        self.init(core: SuiteCore.shared(id: CoreID(path: path)) { FileBackend(path: path, durability: durability) })
    }
}

extension FileBackend {
    package convenience init(path: String, durability: DefaultsSuite.Durability) {
        switch durability {
        case .process: self.init(path: path)
        case .immediate: self.init(path: path, flushDelay: .zero)
        }
    }
}
