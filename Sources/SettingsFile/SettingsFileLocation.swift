/// Where a settings file is: its folder and its name, which may come to mean another file. No place, if the path is empty.
struct SettingsFileLocation {
    let path: String
    private let folder: String
    private let name: String
    /// What a file is called until it gets its name. Whoever has the lock of the one so called is the only one who gives the name a file.
    private let temporaryName: String
    private let sizeLimit: Int
    /// How long to wait for other processes.
    let patience: Duration

    init(path: String, sizeLimit: Int, patience: Duration) {
        (self.path, self.sizeLimit, self.patience) = (path, sizeLimit, patience)
        // By bytes: a slash and a combining mark behind it are one character.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path.utf8[slash...].dropFirst()) ?? ""
        temporaryName = ".\(name).new"
    }

    /// Why a file of that name cannot be a settings file, or `nil`.
    static func problem(ofName name: String) -> String? {
        if name.utf8.contains(0) { return "a file name cannot contain a NUL byte" }
        if name.utf8.first == UInt8(ascii: "."), name.utf8.suffix(4).elementsEqual(".new".utf8) {
            return "names of the form “.<name>.new” are used for temporary files"
        }
        if name.utf8.count > nameLimit - 5 { return "a settings file's name has at most \(nameLimit - 5) bytes" }
        return nil
    }

    /// How many bytes a name may have on nearly every file system.
    private static let nameLimit = 255

    /// The name for a copy of damage. A long name is cut so that the copy can be made.
    private static func copyName(of name: String, checksum: UInt32) -> String {
        var start = name
        while start.utf8.count > nameLimit - ".damaged-01234567".utf8.count { start.removeLast() }
        return "\(start).damaged-\(String(checksum, radix: 16))"
    }

    private func directory() throws(FileFailure) -> File {
        guard path.utf8.first == UInt8(ascii: "/"), !name.isEmpty else {
            throw FileFailure(
                path.isEmpty
                    ? "neither XDG_CONFIG_HOME nor HOME is an absolute path in UTF-8, or the program has no name"
                    : "its path is not absolute, or names no file"
            )
        }
        if let problem = Self.problem(ofName: name) { throw FileFailure(problem) }
        guard !folder.utf8.contains(0) else { throw FileFailure("a path cannot contain a NUL byte") }
        let directory = try File.directory(folder)
        guard try !directory.status().isOpenToAll else {
            throw FileFailure("its folder can be written by everybody, so anybody could put another file there")
        }
        return directory
    }

    /// Begins to watch the file and its name.
    func watch(_ onChange: @escaping @Sendable (_ isName: Bool) -> Void) -> FileWatch {
        // Made if need be: what is not there cannot be watched. Why that fails is told to whoever reads.
        _ = try? directory()
        return FileWatch(folder: folder, name: name, onChange: onChange)
    }

    /// Opens the file; nil if it is missing, and shall not or cannot be made. Its folder is made in any case, for whoever cannot do
    /// that has no place for settings.
    func open(making: Bool, reports: inout [SettingsFileError]) throws(FileFailure) -> FileLog? {
        let deadline = ContinuousClock.now + patience
        while true {
            let directory = try directory()
            var file: File?
            var isWritable = true
            do throws(FileFailure) {
                file = try directory.file(name, .readWrite)
            } catch let error where error.isForbidden {
                file = try directory.file(name, .readOnly)
                isWritable = false
            } catch let error where error.isMissing {}
            do throws(FileFailure) {
                if let file, let log = try open(file, in: directory, isWritable: isWritable, reports: &reports) {
                    return log
                }
                guard isWritable, making else { return nil }
                // Missing, or nothing was written to it yet.
                let empty = RecordFormat.file(epoch: 0, settings: FileIndex(crc: 0), of: .init(start: nil, count: 0))
                let made = try install(empty, in: directory, inPlaceOf: file?.identity(), sealing: nil)
                made.file.unlock()
                return made
            } catch let error where (error.isReplaced || error.isMissing) && ContinuousClock.now < deadline {
                // Another process was faster.
                SystemClock.sleep(microseconds: 200)
            } catch let error where error.isForbidden && file == nil {
                return nil
            }
        }
    }

    /// Opens a file that has the name, and repairs it if need be; nil if nothing was written to it yet.
    private func open(
        _ file: File, in directory: File, isWritable: Bool, reports: inout [SettingsFileError]
    ) throws(FileFailure) -> FileLog? {
        let opened = try FileLog.opening(
            file, named: name, in: directory, isWritable: isWritable, sizeLimit: sizeLimit)
        guard let (log, progress) = opened, progress.isStopped, isWritable, try file.tryLock() else {
            return opened?.log
        }
        defer { file.unlock() }
        // Good now means that somebody has just written it. If a repair fails, what is good can be read, and a writer will say why it
        // cannot go on.
        guard try log.readOn(isOpening: true).isStopped, try !isElsewhere(log),
            let successor = try? repair(log, reports: &reports)
        else { return log }
        successor.file.unlock()
        return successor
    }

    /// Whether the name means another file than this one, or none. Asked by the whole path: the folder may have been renamed as well.
    func isElsewhere(_ log: FileLog) throws(FileFailure) -> Bool {
        try log.directory.identity(of: path) != log.identity
    }

    /// Whether the name means another file than this one.
    func isReplaced(_ log: FileLog) throws(FileFailure) -> Bool {
        try log.directory.identity(of: path).map { $0 != log.identity } ?? false
    }

    /// Writes what is live to a new file and gives it the name; with the lock of the old file, and returned with that of the new one.
    func replace(_ log: FileLog) throws(FileFailure) -> FileLog {
        // Not in the folder that it was opened in, which may have been renamed, and the file moved to another one of that name.
        let successor = try install(log.successor(), in: directory(), inPlaceOf: log.identity, sealing: log)
        // Somebody may still have it open, for a flush that is under way, and nobody is to wait for its lock.
        log.file.unlock()
        return successor
    }

    /// Makes a file under another name, flushes it, and gives it the name if that still means the same as before: another file, or none.
    /// Returned with its lock.
    private func install(
        _ bytes: [UInt8], in directory: File, inPlaceOf old: File.Identity?, sealing log: FileLog?
    ) throws(FileFailure) -> FileLog {
        let file = try claim(in: directory, inPlaceOf: old)
        do throws(FileFailure) {
            try check(old, in: directory)
            try file.write(pages: bytes, at: 0)
            // Read back, so that what takes the place of the old file is known to be good.
            let opened = try FileLog.opening(
                file, named: temporaryName, in: directory, isWritable: true, sizeLimit: sizeLimit)
            guard let successor = opened?.log, opened?.progress.isStopped == false else {
                throw FileFailure("its successor does not read back")
            }
            try file.flush()
            // What was removed or replaced while the disk took its time is not to come back in place of what others have made there.
            try check(old, in: directory)
            // Before the rename: whoever has the old file open finds out that another one comes.
            try log?.seal()
            do throws(FileFailure) { try directory.rename(temporaryName, to: name) } catch {
                try log?.unseal()
                guard error.isBusy else { throw error }
                throw FileFailure(
                    "\(error.reason); if the file itself is mounted here, mount its folder instead", code: error.code)
            }
            // The name need not be flushed now: until it is, a loss of power leaves the old file, which holds what was flushed before.
            successor.noteFlush(to: successor.end, andName: false)
            return successor
        } catch {
            try? directory.remove(temporaryName)
            throw error
        }
    }

    /// Makes an empty file under the temporary name, with its lock.
    private func claim(in directory: File, inPlaceOf old: File.Identity?) throws(FileFailure) -> File {
        let deadline = ContinuousClock.now + patience
        while true {
            // Whoever waited for another process may find that it did all there was to do.
            try check(old, in: directory)
            do throws(FileFailure) {
                let file = try directory.make(temporaryName, inFolder: folder)
                // Until it has its lock it may be taken for one that was left, and removed.
                if try isClaimed(file, in: directory) { return file }
            } catch let error where error.isOther {
                if let left = try leftFile(in: directory), try isClaimed(left, in: directory) {
                    guard try isTemporary(left) else {
                        throw FileFailure(
                            "\(temporaryName) is in the way, and this library did not make it; move it away")
                    }
                    // By a process that died.
                    try directory.remove(temporaryName)
                    continue
                }
            }
            guard ContinuousClock.now < deadline else {
                throw FileFailure("another process is replacing it, and does not finish")
            }
            SystemClock.sleep(microseconds: 200)
        }
    }

    private func leftFile(in directory: File) throws(FileFailure) -> File? {
        do throws(FileFailure) { return try directory.file(temporaryName, .readWrite) } catch {
            if error.isMissing { return nil }
            // Not removed: it may be another user's, who has its lock.
            throw FileFailure("\(temporaryName): \(error.reason)")
        }
    }

    /// Whether a file under the temporary name was made by this library: by this user, with nothing written to it but what begins as a
    /// settings file does. After a loss of power its first bytes may be zeros.
    private func isTemporary(_ file: File) throws(FileFailure) -> Bool {
        let status = try file.status()
        guard status.isRegular, status.isOwn, status.links <= 1 else { return false }
        let start = try file.read(at: 0, count: RecordFormat.magic.count)
        return RecordFormat.magic.starts(with: start) || start.allSatisfy { $0 == 0 }
    }

    /// Throws if the name means something else by now; in this folder as well, which may have been renamed.
    private func check(_ old: File.Identity?, in directory: File) throws(FileFailure) {
        guard try directory.identity(of: path) == old, try directory.identity(of: name) == old else {
            throw FileFailure(replaced: "it was replaced meanwhile")
        }
    }

    private func isClaimed(_ file: File, in directory: File) throws(FileFailure) -> Bool {
        guard try file.tryLock() else { return false }
        return try directory.identity(of: temporaryName) == file.identity()
    }

    /// Copies aside what stands behind the last good record, and replaces the file; with its lock.
    ///
    /// In a folder that cannot be written, erases a record of which blocks are missing, and keeps the file.
    func repair(_ log: FileLog, reports: inout [SettingsFileError]) throws(FileFailure) -> FileLog {
        let rest = try log.rest()
        do throws(FileFailure) {
            return try rest.isEmpty ? replace(log) : replace(log, keeping: rest, reports: &reports)
        } catch let error where error.isForbidden {
            // If a copy was made all the same, the damage is gone.
            let hasRest = try !log.rest().isEmpty
            guard try log.isCutShort || hasRest else { throw error }
            guard let count = try log.eraseTornRecord() else {
                throw FileFailure(
                    "its last \(rest.count) bytes are damaged, and no copy of them can be made: \(error.reason)",
                    code: error.code)
            }
            guard count > 0 else { return log }
            reports.append(
                SettingsFileError(
                    .unreadable,
                    reason:
                        "the last write to \(path) was never finished; its \(count) bytes are erased, because no copy"
                        + " can be made: \(error.reason)"))
            return log
        }
    }

    private func replace(
        _ log: FileLog, keeping rest: [UInt8], reports: inout [SettingsFileError]
    ) throws(FileFailure) -> FileLog {
        let directory = try directory()
        let crc = rest.withUnsafeBytes { CRC32C.checksum(of: $0) }
        let copyName = Self.copyName(of: name, checksum: crc)
        // Whole or not there: what a full disk or a kill left would pass for a copy. The same damage takes the same name.
        let copy = try claim(in: directory, inPlaceOf: log.identity)
        let start = min(rest.count, RecordFormat.magic.count)
        do throws(FileFailure) {
            // Under its temporary name it begins as a settings file does, so that the next process may remove it.
            try copy.write(Array(RecordFormat.magic[..<start] + rest[start...]), at: 0)
            try copy.flush()
            try directory.rename(temporaryName, to: copyName)
        } catch {
            try? directory.remove(temporaryName)
            throw error
        }
        // If this process dies before, the damage is still there, and the next one makes the same copy again.
        try copy.write(Array(rest[..<start]), at: 0)
        try copy.flush()
        try directory.flushNames()
        let successor = try replace(log)
        reports.append(
            SettingsFileError(
                .unreadable,
                reason:
                    "the last \(rest.count) bytes of \(path) were damaged or never finished; they are kept in \(copyName)"
            ))
        return successor
    }
}
