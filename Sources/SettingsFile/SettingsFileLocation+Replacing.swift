extension SettingsFileLocation {
    /// Keeps the bytes of damaged records in a file beside this one.
    ///
    /// - Parameters:
    ///   - damage: The bytes that follow the last whole record; empty if the records are missing.
    ///   - flushed: The end of the records that had been flushed.
    /// - Returns: What to report; `nil` if records are missing that were not flushed, as after a
    ///   power failure.
    func setAside(_ damage: [UInt8], from end: Int, flushed: UInt64) throws(FileFailure) -> String? {
        guard !damage.isEmpty else {
            guard flushed > UInt64(end), flushed <= UInt64(RecordFormat.sizeLimit + RecordFormat.reserve) else {
                return nil
            }
            return "the records of \(path) from byte \(end) to \(flushed), which had been flushed, are missing"
        }
        do throws(FileFailure) {
            return try "the last \(damage.count) bytes of \(path) were damaged or incomplete; they are kept in"
                + " \(copyAside(damage))"
        } catch {
            throw FileFailure(
                "its last \(damage.count) bytes are damaged and cannot be copied to another file: \(error.reason)",
                code: error.code, isReplaced: error.isReplaced)
        }
    }

    /// Copies damage to a file beside this one. Equal damage gets an equal name, so it is copied
    /// once.
    fileprivate func copyAside(_ bytes: [UInt8]) throws(FileFailure) -> String {
        let (target, directory) = try followingLinks()
        let checksum = String(bytes.withUnsafeBytes { CRC32C.checksum(of: $0) }, radix: 16)
        var start = target.name
        // A long name is truncated to make the copy possible.
        while start.utf8.count > Self.nameLimit - ".damaged-01234567".utf8.count { start.removeLast() }
        let name = "\(start).damaged-\(checksum)"
        // Under a temporary name first: a full disk or a kill could leave a partial copy.
        let copy = try target.makeTemporary(in: directory, inPlaceOf: directory.identity(of: target.name))
        do throws(FileFailure) {
            try copy.write(bytes, at: 0)
            try copy.flush()
            try directory.rename(target.temporaryName, to: name)
            try directory.flushNames()
        } catch {
            try? directory.remove(target.temporaryName)
            throw error
        }
        return "\(target.folder)/\(name)"
    }

    /// Writes the values to a new file and renames it into place. The caller holds the lock of the
    /// old file, and receives the new file locked.
    func compact(_ log: FileLog) throws(FileFailure) -> FileLog {
        let endBackgroundTime = BackgroundTime.begin()
        defer { endBackgroundTime() }
        // Open the folder by its path again: the folder in which the log was opened may have been
        // renamed, and another settings file may be in its place.
        let (target, directory) = try followingLinks()
        let new = try target.install(log.successor(), in: directory, inPlaceOf: log.identity, of: log)
        log.file.unlock()
        return new
    }

    /// Creates a file under the temporary name, flushes it, and renames it into place if the name
    /// still refers to the same file as before.
    ///
    /// - Parameters:
    ///   - old: The file that the name must refer to; `nil` if it must not exist.
    ///   - log: The log of that file.
    /// - Returns: The new file, locked.
    func install(
        _ bytes: [UInt8], in directory: File, inPlaceOf old: File.Identity?, of log: FileLog? = nil
    ) throws(FileFailure) -> FileLog {
        let file = try makeTemporary(in: directory, inPlaceOf: old)
        do throws(FileFailure) {
            if let log { file.copyReaders(of: log.file) }
            try file.write(bytes, at: 0)
            // Read the file back, so that only a valid file replaces the old one.
            let opened = try FileLog.opening(
                file, named: temporaryName, as: name, in: directory, isWritable: true, sizeLimit: .max)
            guard let new = opened, new.end == bytes.count else {
                throw FileFailure("the new file cannot be read back")
            }
            try file.flush()
            // Readers of the old file look up the name from now on.
            try log?.setReplaced(true)
            do throws(FileFailure) {
                // Another program may have removed or replaced the file during the flush. Do not
                // undo that.
                try check(old, in: directory)
                try directory.rename(temporaryName, to: name)
            } catch {
                // If this fails, they continue to look it up until the next write.
                try? log?.setReplaced(false)
                throw error
            }
            // The name needs no flush now. Until it is flushed, a power failure brings back the old
            // file, which holds everything flushed so far.
            new.noteFlush(to: new.end, andName: false)
            return new
        } catch {
            try? directory.remove(temporaryName)
            guard error.isBusy else { throw error }
            throw FileFailure(
                "\(error.reason); if the file itself is mounted here, mount its folder instead", code: error.code)
        }
    }

    private var temporaryName: String { ".\(name).new" }

    /// Creates an empty file under the temporary name, and locks it. Only the process that holds
    /// the lock may rename the file.
    private func makeTemporary(in directory: File, inPlaceOf old: File.Identity?) throws(FileFailure) -> File {
        let deadline = ContinuousClock.now + timeout
        while true {
            // Another process may have replaced the file while this one waited.
            try check(old, in: directory)
            var file: File
            do throws(FileFailure) {
                file = try directory.make(temporaryName, inFolder: folder)
                if try isClaimed(file, in: directory) { return file }
            } catch let error where error.alreadyExists {
                do throws(FileFailure) {
                    file = try directory.file(temporaryName, .readWrite)
                } catch {
                    if error.isMissing { continue }
                    // Do not remove it: it may belong to another user, who holds its lock. The
                    // permissions of the file itself and of its folder may be fine.
                    throw FileFailure(
                        "\(temporaryName): \(error.reason)", code: error.isPermissionDenied ? 0 : error.code)
                }
                do throws(FileFailure) {
                    if try isClaimed(file, in: directory) {
                        guard try file.isSettingsFile else {
                            throw FileFailure(
                                "\(temporaryName) is in the way, and this library did not create it; move it away")
                        }
                        // The process that created it has died.
                        try directory.remove(temporaryName)
                        continue
                    }
                } catch let error where error.isMissing { continue }
            }
            guard ContinuousClock.now < deadline else {
                throw FileFailure("another process is replacing it, and has not finished")
            }
            SystemClock.sleep(microseconds: 200)
        }
    }

    /// Throws if the name refers to another file by now. Also checks the open folder, because the
    /// path may lead to a different one.
    private func check(_ old: File.Identity?, in directory: File) throws(FileFailure) {
        guard try directory.identity(of: path, followsLinks: true) == old, try directory.identity(of: name) == old
        else { throw FileFailure("it was replaced in the meantime", isReplaced: true) }
    }

    private func isClaimed(_ file: File, in directory: File) throws(FileFailure) -> Bool {
        guard try file.tryLock() else { return false }
        return try directory.identity(of: temporaryName) == file.identity()
    }
}

extension File {
    /// Whether this library may have created the file: the user owns it, and it begins like a
    /// settings file.
    fileprivate var isSettingsFile: Bool {
        get throws(FileFailure) {
            let status = try status()
            guard status.isRegular, status.isOfThisUser, status.links <= 1 else { return false }
            let start = try read(at: 0, count: RecordFormat.magic.count)
            return RecordFormat.magic.starts(with: start) || start.allSatisfy { $0 == 0 }
        }
    }
}

extension SettingsFile {
    /// Replaces a file with a damaged header by one with the values that can be read. Copies all
    /// of its bytes to a file beside it first.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - isValue: Returns whether the bytes are a value that this version can read.
    /// - Returns: The path of the copy, and the old file; `nil` if there is no file, or its header
    ///   is not damaged.
    package static func repair(
        path: String, isValue: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) throws(SettingsFileError) -> (copy: String, old: FileInspection)? {
        let location = SettingsFileLocation(path: path)
        guard var old = try FileInspection(path: path, isValue: isValue), old.isHeaderDamaged else { return nil }
        do throws(FileFailure) {
            let (target, directory) = try location.followingLinks()
            let file = try directory.file(target.name, .readWrite)
            let status = try file.status()
            guard status.isOfThisUser, status.isRegular, status.links <= 1 else {
                throw FileFailure("it has another owner or several links; see typed-defaults check")
            }
            guard try file.tryLock() else { throw FileFailure("another process is using it") }
            // Another process may have repaired it in the meantime.
            guard let now = try? FileInspection(path: path, isValue: isValue), now.isHeaderDamaged else { return nil }
            old = now
            let copy = try target.copyAside(file.read(at: 0, count: status.size))
            var edits = RecordWriter()
            for (key, value) in old.salvageable { if let value { edits.append(key, raw: value[...]) } }
            let bytes = RecordFormat.file(epoch: 0, edits.withBytes { Array($0[8...]) })
            let new = try target.install(bytes, in: directory, inPlaceOf: file.identity())
            defer { new.file.unlock() }
            new.file.copyReaders(of: file)
            try directory.flushNames()
            return (copy, old)
        } catch {
            throw SettingsFileError(
                .unavailable, reason: "the file \(path) cannot be repaired: \(location.naming(ownerIn: error).reason)")
        }
    }
}
