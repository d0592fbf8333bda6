/// The folder and the name of a settings file. Which file the name refers to may change.
///
/// An empty path means that there is no location; every call then throws.
struct SettingsFileLocation {
    let path: String
    /// The folder and the name of the file. If the path is a symbolic link, those of its target.
    private(set) var folder: String
    private(set) var name: String
    private let sizeLimit: Int
    /// How long to wait for other processes.
    let timeout: Duration

    init(path: String, sizeLimit: Int = RecordFormat.sizeLimit, timeout: Duration = .seconds(2)) {
        (self.path, self.sizeLimit, self.timeout) = (path, sizeLimit, timeout)
        (folder, name) = Self.split(path)
    }

    /// The name of a file that is being written. Only the process that holds the lock of the file
    /// with this name may rename that file.
    private var temporaryName: String { ".\(name).new" }

    private static func split(_ path: String) -> (folder: String, name: String) {
        // Search the bytes, because a slash and a following combining mark form one character.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return (
            slash == path.startIndex ? "/" : String(path[..<slash]), String(path.utf8[slash...].dropFirst()) ?? ""
        )
    }

    /// Returns why a file of that name cannot be a settings file, or `nil` if it can.
    static func problem(ofName name: String) -> String? {
        if name.utf8.contains(0) { return "a file name cannot contain a NUL byte" }
        if name.utf8.first == UInt8(ascii: "."), name.utf8.suffix(4).elementsEqual(".new".utf8) {
            return "names of the form “.<name>.new” are used for temporary files"
        }
        if name.utf8.count > nameLimit - 5 { return "the name of a settings file is at most \(nameLimit - 5) bytes" }
        return nil
    }

    /// The number of bytes that a name may have on nearly every file system.
    private static let nameLimit = 255

    /// Returns the name for a copy of damage. A long name is truncated to make the copy possible.
    private static func copyName(of name: String, checksum: UInt32) -> String {
        var start = name
        while start.utf8.count > nameLimit - ".damaged-01234567".utf8.count { start.removeLast() }
        return "\(start).damaged-\(String(checksum, radix: 16))"
    }

    /// Follows the path if it is a symbolic link, as programs that manage configuration files
    /// create it. Link, target and their folders must be under the control of this user alone.
    ///
    /// - Returns: The location of the file, and its open folder.
    func followingLinks(creating: Bool = false) throws(FileFailure) -> (Self, directory: File) {
        var location = self
        for _ in 0..<8 {
            let isTarget = location.folder != folder || location.name != name
            let directory = try location.directory(creating: creating && !isTarget)
            let target = try directory.target(ofLink: location.name)
            if isTarget || target != nil {
                try Self.check(directory.status(), of: location.folder)
                if let status = try directory.existingStatus(of: location.name) {
                    try Self.check(status, of: "\(location.folder)/\(location.name)")
                }
            }
            guard let target else { return (location, directory) }
            let isAbsolute = target.utf8.first == UInt8(ascii: "/")
            (location.folder, location.name) = Self.split(isAbsolute ? target : "\(location.folder)/\(target)")
        }
        throw FileFailure("it is a symbolic link to too many others; name the file itself")
    }

    private static func check(_ status: File.Status, of path: String) throws(FileFailure) {
        guard !status.isPrivate else { return }
        let problem = status.isOwn ? "can be written by others; run chmod go-w on it, or" : "belongs to another user;"
        throw FileFailure(
            "it is a symbolic link, which is followed only if no other user can change it, and \(path) \(problem) name"
                + " the file itself")
    }

    private func directory(creating: Bool = false) throws(FileFailure) -> File {
        guard path.utf8.first == UInt8(ascii: "/"), !name.isEmpty else {
            throw FileFailure(
                path.isEmpty
                    ? "neither XDG_CONFIG_HOME nor HOME is an absolute path in UTF-8, or the program has no name"
                    : "its path is not absolute, or ends with a slash"
            )
        }
        if let problem = Self.problem(ofName: name) { throw FileFailure(problem) }
        guard !folder.utf8.contains(0) else { throw FileFailure("a path cannot contain a NUL byte") }
        let directory = try creating ? File.directory(folder) : File.existingDirectory(folder)
        guard try !directory.status().isWorldWritable else {
            throw FileFailure(
                "its folder is writable by all users, who could replace the file; restrict its permissions")
        }
        return directory
    }

    /// Starts to watch the file and its name.
    func watch(_ onChange: @escaping @Sendable (_ isName: Bool) -> Void) -> FileWatch {
        // The folder must exist to be watched. If this fails, readers get the error.
        let target = (try? followingLinks(creating: true))?.0 ?? self
        return FileWatch(folder: target.folder, name: target.name, onChange: onChange)
    }

    /// Opens the file, or creates it and its folder if `creating` is true.
    ///
    /// - Returns: `nil` if the file does not exist and was not created.
    func open(creating: Bool, reports: inout [SettingsFileError]) throws(FileFailure) -> FileLog? {
        let deadline = ContinuousClock.now + timeout
        while true {
            let (target, directory): (Self, File)
            do throws(FileFailure) {
                (target, directory) = try followingLinks(creating: creating)
            } catch let error where error.isMissing && !creating { return nil }
            var file: File?
            var isWritable = true
            do throws(FileFailure) {
                file = try directory.file(target.name, .readWrite)
            } catch let error where error.isPermissionDenied {
                file = try directory.file(target.name, .readOnly)
                isWritable = false
            } catch let error where error.isMissing {}
            do throws(FileFailure) {
                if let file,
                    let log = try target.openLog(on: file, in: directory, isWritable: isWritable, reports: &reports)
                {
                    return log
                }
                guard isWritable, creating else { return nil }
                // The file is missing or still empty.
                let empty = RecordFormat.file(epoch: 0, settings: FileIndex(crc: 0), of: .init(start: nil, count: 0))
                let made = try target.install(empty, in: directory, inPlaceOf: file?.identity(), sealing: nil)
                made.file.unlock()
                return made
            } catch let error where (error.isReplaced || error.isMissing) && ContinuousClock.now < deadline {
                // Another process was faster.
                SystemClock.sleep(microseconds: 200)
            } catch let error where error.isPermissionDenied && file == nil {
                return nil
            }
        }
    }

    /// Opens a log on a file, and repairs the file if necessary. Returns `nil` if nothing has been
    /// written to it yet.
    private func openLog(
        on file: File, in directory: File, isWritable: Bool, reports: inout [SettingsFileError]
    ) throws(FileFailure) -> FileLog? {
        let opened = try FileLog.opening(
            file, named: name, in: directory, isWritable: isWritable, sizeLimit: sizeLimit)
        guard let (log, progress) = opened, progress.isStopped, isWritable, try file.tryLock() else {
            return opened?.log
        }
        defer { file.unlock() }
        // If the bytes are valid now, another process has just written them. If the repair fails,
        // the valid records can still be read, and the next write throws the error.
        guard try log.readNewRecords(isOpening: true).isStopped, try !nameHasMoved(from: log),
            let successor = try? salvage(log, reports: &reports)
        else { return log }
        successor.file.unlock()
        return successor
    }

    /// Whether the file can be opened for writing now.
    var isWritable: Bool {
        guard let (target, directory) = try? followingLinks() else { return false }
        return (try? directory.file(target.name, .readWrite)) != nil
    }

    /// Returns whether the name refers to another file, or to none. Compares by full path, because
    /// the folder may have been renamed too.
    func nameHasMoved(from log: FileLog) throws(FileFailure) -> Bool {
        try log.directory.identity(of: path, followsLinks: true) != log.identity
    }

    /// Writes the live settings to a new file and renames it into place. The caller holds the lock
    /// of the old file, and receives the new file locked.
    private func replace(_ log: FileLog) throws(FileFailure) -> FileLog {
        // Open the folder by its path again: the folder in which the log was opened may have been
        // renamed, and another settings file may be in its place.
        let (target, directory) = try followingLinks()
        let successor = try target.install(log.successor(), in: directory, inPlaceOf: log.identity, sealing: log)
        // A flush in progress may keep the old file open. Unlock it now, so that no process waits
        // for it.
        log.file.unlock()
        return successor
    }

    /// Creates a file under the temporary name, flushes it, and renames it into place if the name
    /// still refers to the same file as before.
    ///
    /// - Parameters:
    ///   - old: The file that the name must refer to; `nil` if it must not exist.
    ///   - log: The log to seal before the rename.
    /// - Returns: The new file, locked.
    private func install(
        _ bytes: [UInt8], in directory: File, inPlaceOf old: File.Identity?, sealing log: FileLog?
    ) throws(FileFailure) -> FileLog {
        let file = try claim(in: directory, inPlaceOf: old)
        do throws(FileFailure) {
            try check(old, in: directory)
            try file.write(bytes, at: 0)
            // Read the file back, so that only a valid file replaces the old one.
            let opened = try FileLog.opening(
                file, named: temporaryName, in: directory, isWritable: true, sizeLimit: sizeLimit)
            guard let successor = opened?.log, opened?.progress.isStopped == false else {
                throw FileFailure("the new file cannot be read back")
            }
            try file.flush()
            // Another process may have removed or replaced the file during the flush. Do not undo
            // that.
            try check(old, in: directory)
            // Seal before the rename, so that processes with the old file open notice the new one.
            try log?.seal()
            do throws(FileFailure) { try directory.rename(temporaryName, to: name) } catch {
                try log?.unseal()
                guard error.isBusy else { throw error }
                throw FileFailure(
                    "\(error.reason); if the file itself is mounted here, mount its folder instead", code: error.code)
            }
            // The name needs no flush now. Until it is flushed, a power failure brings back the old
            // file, which holds everything flushed so far.
            successor.noteFlush(to: successor.end, andName: false)
            return successor
        } catch {
            try? directory.remove(temporaryName)
            throw error
        }
    }

    /// Creates an empty file under the temporary name, and locks it.
    private func claim(in directory: File, inPlaceOf old: File.Identity?) throws(FileFailure) -> File {
        let deadline = ContinuousClock.now + timeout
        while true {
            // Another process may have replaced the file while this one waited.
            try check(old, in: directory)
            do throws(FileFailure) {
                let file = try directory.make(temporaryName, inFolder: folder)
                // Before the file is locked, another process may mistake it for an abandoned file
                // and remove it.
                if try isClaimed(file, in: directory) { return file }
            } catch let error where error.alreadyExists {
                if let abandoned = try abandonedFile(in: directory), try isClaimed(abandoned, in: directory) {
                    guard try isTemporary(abandoned) else {
                        throw FileFailure(
                            "\(temporaryName) is in the way, and this library did not create it; move it away")
                    }
                    // The process that created it has died.
                    try directory.remove(temporaryName)
                    continue
                }
            }
            guard ContinuousClock.now < deadline else {
                throw FileFailure("another process is replacing it and does not finish")
            }
            SystemClock.sleep(microseconds: 200)
        }
    }

    private func abandonedFile(in directory: File) throws(FileFailure) -> File? {
        do throws(FileFailure) { return try directory.file(temporaryName, .readWrite) } catch {
            if error.isMissing { return nil }
            // Do not remove it: it may belong to another user, who holds its lock.
            throw FileFailure("\(temporaryName): \(error.reason)")
        }
    }

    /// Returns whether this library created the file under the temporary name: the user owns it,
    /// and it starts like a settings file. After a power failure, its first bytes may be zeros.
    private func isTemporary(_ file: File) throws(FileFailure) -> Bool {
        let status = try file.status()
        guard status.isRegular, status.isOwn, status.links <= 1 else { return false }
        let start = try file.read(at: 0, count: RecordFormat.magic.count)
        return RecordFormat.magic.starts(with: start) || start.allSatisfy { $0 == 0 }
    }

    /// Throws if the name refers to another file by now. Also checks the open folder, because the
    /// path may lead to another one.
    private func check(_ old: File.Identity?, in directory: File) throws(FileFailure) {
        guard try directory.identity(of: path, followsLinks: true) == old, try directory.identity(of: name) == old
        else {
            throw FileFailure("it was replaced in the meantime", isReplaced: true)
        }
    }

    private func isClaimed(_ file: File, in directory: File) throws(FileFailure) -> Bool {
        guard try file.tryLock() else { return false }
        return try directory.identity(of: temporaryName) == file.identity()
    }

    /// Erases an unfinished record, or copies damage aside and replaces the file. The caller holds
    /// the file lock.
    func salvage(_ log: FileLog, reports: inout [SettingsFileError]) throws(FileFailure) -> FileLog {
        let endBackgroundTime = BackgroundTime.begin()
        defer { endBackgroundTime() }
        let trailing = try log.trailingBytes()
        if !trailing.isEmpty, let count = try log.eraseTornRecord() {
            let reason = "the last write to \(path) never finished; its \(count) bytes were erased"
            reports.append(SettingsFileError(.unreadable, reason: reason))
            return log
        }
        do throws(FileFailure) {
            return try trailing.isEmpty ? replace(log) : replace(log, settingAside: trailing, reports: &reports)
        } catch let error where error.isPermissionDenied {
            guard trailing.isEmpty else {
                throw FileFailure(
                    "its last \(trailing.count) bytes are damaged and cannot be copied to another file: \(error.reason)",
                    code: error.code)
            }
            // Without the zeros at its end, a file needs no replacement, only the zeros.
            guard try log.isCutShort, try log.eraseTornRecord() != nil else { throw error }
            return log
        }
    }

    private func replace(
        _ log: FileLog, settingAside trailing: [UInt8], reports: inout [SettingsFileError]
    ) throws(FileFailure) -> FileLog {
        let (target, directory) = try followingLinks()
        let crc = trailing.withUnsafeBytes { CRC32C.checksum(of: $0) }
        let copyName = Self.copyName(of: target.name, checksum: crc)
        // Write the copy under a temporary name first: a full disk or a kill could leave a partial
        // copy. Equal damage gets an equal name, so it is copied once.
        let copy = try target.claim(in: directory, inPlaceOf: log.identity)
        let start = min(trailing.count, RecordFormat.magic.count)
        do throws(FileFailure) {
            // Start the temporary file like a settings file, so that another process may remove it.
            try copy.write(Array(RecordFormat.magic[..<start] + trailing[start...]), at: 0)
            try copy.flush()
            try directory.rename(target.temporaryName, to: copyName)
        } catch {
            try? directory.remove(target.temporaryName)
            throw error
        }
        // If the process dies before this, the damage is still in the file, and the next process
        // makes the same copy again.
        try copy.write(Array(trailing[..<start]), at: 0)
        try copy.flush()
        try directory.flushNames()
        let successor = try replace(log)
        reports.append(
            SettingsFileError(
                .unreadable,
                reason:
                    "the last \(trailing.count) bytes of \(path) were damaged or incomplete; they are kept in"
                    + " \(target.folder)/\(copyName)"
            ))
        return successor
    }
}
