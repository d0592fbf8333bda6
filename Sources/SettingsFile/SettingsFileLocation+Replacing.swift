extension SettingsFileLocation {
    /// Keeps the bytes of damaged records in a file beside this one. Returns what to report.
    ///
    /// - Parameters:
    ///   - damage: The bytes that follow the last whole record; empty if the records are missing.
    ///   - flushed: The end of the records that had been flushed.
    func setAside(_ damage: [UInt8], from end: Int, flushed: UInt64) throws(FileFailure) -> String {
        guard !damage.isEmpty else {
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
    package func copyAside(_ bytes: [UInt8]) throws(FileFailure) -> String {
        let (target, directory) = try followingLinks()
        let checksum = String(bytes.withUnsafeBytes { CRC32C.checksum(of: $0) }, radix: 16)
        var start = target.name
        // A long name is truncated to make the copy possible.
        while start.utf8.count > Self.nameLimit - ".damaged-01234567".utf8.count { start.removeLast() }
        let name = "\(start).damaged-\(checksum)"
        // Under a temporary name first: a full disk or a kill could leave a partial copy.
        let copy = try target.makeTemporary(in: directory)
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

    /// Writes a new file and renames it into place. The caller holds the lock of the old file, and
    /// receives the new file locked.
    func replace(_ log: Log, with bytes: [UInt8]) throws(FileFailure) -> Log {
        let endBackgroundTime = BackgroundTime.begin()
        defer { endBackgroundTime() }
        // Open the folder by its path again: the folder in which the log was opened may have been
        // renamed, and another settings file may be in its place.
        let (target, directory) = try followingLinks()
        let new = try target.install(bytes, in: directory, inPlaceOf: log.open.file, of: log)
        log.open.file.unlock()
        return new
    }

    /// Creates a file under the temporary name, flushes it, and renames it into place if the name
    /// still refers to the same file as before.
    ///
    /// - Parameters:
    ///   - old: The file that the name must refer to. The caller holds its lock.
    ///   - log: The log of that file.
    /// - Returns: The new file, locked.
    @discardableResult
    package func install(
        _ bytes: [UInt8], in directory: File, inPlaceOf old: File, of log: Log? = nil
    ) throws(FileFailure) -> Log {
        let identity = try old.identity()
        let file = try makeTemporary(in: directory)
        do throws(FileFailure) {
            file.copyReaders(of: old)
            try file.write(bytes, at: 0)
            // Read the file back, so that only a valid file replaces the old one.
            let opened = try Log.opening(
                file, named: temporaryName, as: name, in: directory, isWritable: true, sizeLimit: .max)
            guard var new = opened?.log, new.end == bytes.count else {
                throw FileFailure("the new file cannot be read back")
            }
            try file.flush()
            // Readers of the old file look up the name from now on.
            try log?.setReplaced(true)
            do throws(FileFailure) {
                // Another program may have removed or replaced the file during the flush. Do not
                // undo that.
                try check(identity, in: directory)
                try directory.rename(temporaryName, to: name)
            } catch {
                // If this fails, they continue to look it up until the next write.
                try? log?.setReplaced(false)
                throw error
            }
            // The name needs no flush now. Until it is flushed, a power failure brings back the old
            // file, which holds everything flushed so far.
            new.flushed = new.end
            return new
        } catch {
            try? directory.remove(temporaryName)
            guard error.isBusy else { throw error }
            throw FileFailure(
                "\(error.reason); if the file itself is mounted here, mount its folder instead", code: error.code)
        }
    }

    private var temporaryName: String { ".\(name).new" }

    /// Creates an empty file under the temporary name, and locks it. The caller holds the lock of
    /// the file that has the name, so a file with the temporary name is left from a dead process.
    private func makeTemporary(in directory: File) throws(FileFailure) -> File {
        do throws(FileFailure) { try directory.remove(temporaryName) } catch {
            guard error.isMissing else {
                throw FileFailure("\(temporaryName) is in the way: \(error.reason)", code: error.code)
            }
        }
        let file = try directory.make(temporaryName, inFolder: folder)
        guard try file.tryLock() else { throw FileFailure.isReplacedMeanwhile }
        return file
    }

    /// Throws if the name refers to another file by now. Also checks the open folder, because the
    /// path may lead to a different one.
    private func check(_ old: File.Identity, in directory: File) throws(FileFailure) {
        guard try directory.identity(of: path, followsLinks: true) == old, try directory.identity(of: name) == old
        else { throw FileFailure.isReplacedMeanwhile }
    }
}
