// Creates settings files, and replaces them to drop superseded values or damage.
//
// `claim` creates and locks a file under a temporary name, which one process at a time can do.
// `install` fills and flushes it, seals the old file, and renames the new one into place. `salvage`
// first copies damage of the old file to a file of its own.

extension SettingsFileLocation {
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

    /// Returns the name for a copy of damage. A long name is truncated to make the copy possible.
    private static func copyName(of name: String, checksum: UInt32) -> String {
        var start = name
        while start.utf8.count > nameLimit - ".damaged-01234567".utf8.count { start.removeLast() }
        return "\(start).damaged-\(String(checksum, radix: 16))"
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
    func install(
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
}

// The temporary file.
extension SettingsFileLocation {
    /// The name of a file that is being written. Only the process that holds the lock of the file
    /// with this name may rename that file.
    private var temporaryName: String { ".\(name).new" }

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
    /// path may lead to a different one.
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
}
