/// Where a settings file is: its folder and its name, which may come to mean another file. No place, if the path is empty.
struct FilePlace {
    let path: String
    private let folder: String
    private let name: String
    private let sizeLimit: Int

    init(path: String, sizeLimit: Int) {
        self.path = path
        self.sizeLimit = sizeLimit
        let slash = path.lastIndex(of: "/")
        folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        name = String(path[(slash.map(path.index(after:)) ?? path.startIndex)...])
    }

    private func directory() throws(FileFailure) -> File {
        guard !path.isEmpty else { throw FileFailure("neither XDG_CONFIG_HOME nor HOME is an absolute path") }
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
    func open(making: Bool, patience: Duration, reports: inout [DefaultsError]) throws(FileFailure) -> FileLog? {
        let deadline = ContinuousClock.now + patience
        while true {
            let directory = try directory()
            let file: File
            var isWritable = true
            do throws(FileFailure) {
                file = try directory.file(name, .readWrite)
            } catch let error where error.isMissing {
                guard making else { return nil }
                do throws(FileFailure) {
                    _ = try directory.make(name, inFolder: folder)
                } catch let error where error.isForbidden {
                    return nil
                } catch let error where error.isOther {
                    // Another process was faster.
                }
                continue
            } catch let error where error.isForbidden {
                file = try directory.file(name, .readOnly)
                isWritable = false
            }
            let opened: (log: FileLog, progress: FileLog.Progress)?
            do throws(FileFailure) {
                opened = try FileLog.opening(
                    file, named: name, in: directory, isWritable: isWritable, sizeLimit: sizeLimit)
            } catch let error where (error.isReplaced || error.isMissing) && ContinuousClock.now < deadline {
                continue
            }
            if let (found, progress) = opened {
                var log = found
                if progress.isStopped, isWritable, try file.tryLock() {
                    defer { file.unlock() }
                    // Good now means that somebody has just written it.
                    if try log.readOn(isOpening: true).isStopped, try !isElsewhere(log) {
                        // If that fails, what is good can be read, and a writer will say why it cannot go on.
                        if let successor = try? repair(log, reports: &reports) {
                            // It comes with its lock.
                            successor.file.unlock()
                            log = successor
                        }
                    }
                }
                return log
            }
            guard isWritable, making else { return nil }
            // Just made, and a placeholder only: whoever gets its lock first puts a file with a header in its place.
            if try file.tryLock() {
                defer { file.unlock() }
                let isPlaceholder = try directory.identity(of: name) == file.identity()
                if isPlaceholder {
                    let empty = RecordFormat.file(
                        epoch: 0, settings: FileIndex(crc: 0), of: .init(start: nil, count: 0))
                    do throws(FileFailure) {
                        let made = try install(empty, in: directory) { rename throws(FileFailure) in try rename() }
                        made.file.unlock()
                    } catch let error
                        where (error.isReplaced || error.isMissing || error.isOther) && ContinuousClock.now < deadline
                    {
                        // Somebody is replacing a file that was removed meanwhile, under the same other name.
                    }
                }
            } else if ContinuousClock.now > deadline {
                throw FileFailure("another process is making it, and does not finish")
            } else {
                SystemClock.sleep(microseconds: 200)
            }
        }
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
        let successor = try install(try log.successor(), in: log.directory) { rename throws(FileFailure) in
            // What was removed or replaced while the disk took its time is not to come back in place of what others have made there.
            guard try !isElsewhere(log) else { throw FileFailure(replaced: "it was replaced meanwhile") }
            // Before the rename: whoever has the old file open finds out that another one comes.
            try log.seal()
            do throws(FileFailure) {
                try rename()
            } catch {
                try log.unseal()
                throw error
            }
        }
        // Somebody may still have it open, for a flush that is under way, and nobody is to wait for its lock.
        log.file.unlock()
        return successor
    }

    /// Makes a file under another name, flushes it, and gives it the name; returned with its lock.
    private func install(
        _ bytes: [UInt8], in directory: File,
        renaming: (_ rename: () throws(FileFailure) -> Void) throws(FileFailure) -> Void
    ) throws(FileFailure) -> FileLog {
        // Always the same, since nobody else does this now: what a process left that died at it is found and removed.
        let temporaryName = ".\(name).new"
        do throws(FileFailure) { try directory.remove(temporaryName) } catch let error where error.isMissing {}
        let file = try directory.make(temporaryName, inFolder: folder)
        do throws(FileFailure) {
            guard try file.tryLock() else { throw FileFailure("its successor is locked") }
            try file.write(pages: bytes, at: 0)
            // Read back, so that what takes the place of the old file is known to be good.
            let opened = try FileLog.opening(
                file, named: temporaryName, in: directory, isWritable: true, sizeLimit: sizeLimit)
            guard let log = opened?.log, opened?.progress.isStopped == false else {
                throw FileFailure("its successor does not read back")
            }
            try file.flush()
            // Somebody who has the lock of another file that was renamed over the old one may have made another one under that name.
            guard try directory.identity(of: temporaryName) == file.identity() else {
                throw FileFailure(replaced: "its successor was replaced")
            }
            try renaming { () throws(FileFailure) in try directory.rename(temporaryName, to: name) }
            // The name need not be flushed now: until it is, a loss of power leaves the old file, which holds what was flushed before.
            log.noteFlush(to: log.end, andName: false)
            return log
        } catch {
            discard(file, named: temporaryName, in: directory)
            throw error
        }
    }

    /// Removes a file that is of no use, unless it has got its name already, or somebody else has made another one under this one.
    private func discard(_ file: File, named temporaryName: String, in directory: File) {
        guard let own = try? file.identity(), (try? directory.identity(of: temporaryName)) == own else { return }
        try? directory.remove(temporaryName)
    }

    /// Copies aside what stands behind the last good record, and replaces the file; with its lock.
    func repair(_ log: FileLog, reports: inout [DefaultsError]) throws(FileFailure) -> FileLog {
        let rest = try log.rest()
        guard !rest.isEmpty else { return try replace(log) }
        let directory = log.directory
        let crc = rest.withUnsafeBytes { CRC32C.checksum(of: $0) }
        let copyName = "\(name).damaged-\(String(crc, radix: 16))"
        // Whole or not there: what a full disk or a kill left would pass for a copy. The same damage takes the same name.
        let temporaryName = ".\(name).new"
        do throws(FileFailure) { try directory.remove(temporaryName) } catch let error where error.isMissing {}
        let copy = try directory.make(temporaryName, inFolder: folder)
        do throws(FileFailure) {
            try copy.write(rest, at: 0)
            try copy.flush()
            try directory.rename(temporaryName, to: copyName)
            try directory.flushNames()
        } catch {
            discard(copy, named: temporaryName, in: directory)
            throw error
        }
        let successor = try replace(log)
        reports.append(
            DefaultsError(
                .unreadable,
                reason:
                    "the last \(rest.count) bytes of \(path) were damaged or never finished; they are kept in \(copyName)"
            ))
        return successor
    }
}
