/// The state of a settings file, and the values that can be recovered from a damaged one.
package struct FileInspection: Sendable {
    /// Phrases that follow the file's name; empty if nothing is wrong.
    package private(set) var problems: [String] = []
    /// Whether ``keys`` are all keys that were known to be on the disk. A record that no flush has
    /// covered, and that a dead writer or a power failure left unfinished, is not missing.
    package private(set) var isComplete = true
    package private(set) var version: Int?
    package private(set) var epoch: UInt64?
    package private(set) var size = 0
    package private(set) var end = 0
    package private(set) var records = 0
    package private(set) var liveBytes = 0
    package private(set) var keys: [String] = []
    /// The values that this version can read, sorted by key.
    package private(set) var values: [(key: String, value: [UInt8])] = []
    /// The last edit of each key in whole records after the damage, sorted; `nil` for a removal.
    package private(set) var salvageable: [(key: String, value: [UInt8]?)] = []

    /// Returns whether the bytes are a value that this version can read.
    private let isValue: @Sendable (UnsafeRawBufferPointer) -> Bool

    private init(isValue: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool) { self.isValue = isValue }

    /// Reads a settings file and leaves it unchanged. Returns `nil` if it does not exist.
    ///
    /// A record that another process is writing looks like damage. Bytes that look damaged are
    /// therefore read again under a shared lock, which keeps writers out and needs no write access.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - timeout: How long to wait for a writer. If it takes longer, its record counts as damage.
    ///   - isValue: Returns whether the bytes are a value that this version can read.
    package init?(
        path: String, timeout: Duration = .seconds(2),
        isValue: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) throws(SettingsFileError) {
        self.init(isValue: isValue)
        do throws(FileFailure) {
            let mayBeInProgress = try inspect(path, isLocked: false) ?? false
            let deadline = ContinuousClock.now + timeout
            while mayBeInProgress, ContinuousClock.now < deadline {
                if try inspect(path, isLocked: true) != nil { return }
                SystemClock.sleep(microseconds: 200)
            }
        } catch let error where error.isMissing {
            return nil
        } catch {
            throw SettingsFileError(.unavailable, reason: "the file \(path) cannot be inspected: \(error.reason)")
        }
    }

    /// Inspects the file once.
    ///
    /// - Parameter isLocked: Whether to read under a shared lock.
    /// - Returns: Whether a writer may be the reason for one of the problems; `nil` if the file
    ///   cannot be locked now.
    private mutating func inspect(_ path: String, isLocked: Bool) throws(FileFailure) -> Bool? {
        var location = SettingsFileLocation(path: path)
        var directory = try File.existingDirectory(location.folder)
        if try directory.target(ofLink: location.name) != nil {
            (location, directory) = try location.followingLinks()
        }
        let name = location.name
        var inspection = FileInspection(isValue: isValue)
        guard let count = try inspection.checkStatus(of: name, in: directory) else {
            self = inspection
            return false
        }
        let file = try directory.file(name, .readOnly)
        if isLocked {
            guard try file.tryLock(isShared: true), try directory.identity(of: name) == file.identity() else {
                return nil
            }
        }
        let known = inspection.problems.count
        let bytes = try file.read(at: 0, count: count)
        // The lock ends here at the earliest, because the last reference closes the file.
        withExtendedLifetime(file) {}
        bytes.withUnsafeBytes { inspection.inspect($0) }
        self = inspection
        return problems.count > known
    }
}

extension FileInspection {
    /// Returns the number of bytes to read, or `nil` if it is not a regular file.
    private mutating func checkStatus(of name: String, in directory: File) throws(FileFailure) -> Int? {
        let status = try directory.status(of: name)
        size = status.size
        if try directory.status().isWorldWritable { reject("is in a folder that is writable by all users") }
        guard status.isRegular else {
            reject("is not a regular file")
            return nil
        }
        if !status.isOwn { reject("belongs to another user") }
        if status.links == 0 {
            do throws(FileFailure) { _ = try directory.identity(of: name) } catch { reject("is \(File.orphan)") }
        }
        if status.links > 1 { reject("has more than one hard link") }
        if status.mode & 0o177 != 0 { problems.append("has permissions wider than 0600") }
        let limit = RecordFormat.sizeLimit
        if size > limit { reject("is larger than \(RecordFormat.sizeLimit >> 20) MiB") }
        return min(size, limit)
    }

    /// Adds a problem that may have caused keys to be missing.
    private mutating func reject(_ problem: String) {
        problems.append(problem)
        isComplete = false
    }

    private mutating func inspect(_ bytes: UnsafeRawBufferPointer) {
        let used = bytes.count
        // The library creates no such file. Writers treat it as an empty suite.
        guard bytes.contains(where: { $0 != 0 }) else { return reject(bytes.isEmpty ? "is empty" : "holds only zeros") }
        do throws(FileFailure) {
            let fields = try RecordFormat.fields(ofHeader: Array(bytes.prefix(RecordFormat.headerLength))[...])
            (version, epoch) = (Int(bytes[8]), fields.epoch)
            readRecords(bytes, used: used, after: fields.crc)
        } catch {
            reject("cannot be read: \(error.reason)")
            let crc = Salvage.word(in: bytes, at: RecordFormat.headerLength - 4)
            // A file of another version is not damaged.
            guard RecordFormat.checksum(ofHeader: bytes) != crc else { return }
            salvage(bytes, used: used, from: nil, after: crc)
        }
    }

    private mutating func readRecords(_ bytes: UnsafeRawBufferPointer, used: Int, after crc: UInt32) {
        var values: [ByteString: Range<Int>] = [:]
        (end, liveBytes) = (RecordFormat.headerLength, 0)
        var crc = crc
        while let commit = RecordFormat.commit(in: bytes, at: end, after: crc) {
            RecordFormat.forEachEdit(in: bytes, commit.payload) { key, value in
                values[ByteString(String(decoding: bytes[key], as: UTF8.self))] = value
                return true
            }
            (end, crc, records) = (commit.end, commit.crc, records + 1)
        }
        keys = values.keys.map(\.string).sorted()
        for key in keys {
            let value = UnsafeRawBufferPointer(rebasing: bytes[values[ByteString(key)]!])
            liveBytes += RecordFormat.length(ofKey: key.utf8.count, value: value.count)
            if isValue(value) {
                self.values.append((key, Array(value)))
            } else {
                problems.append("has a value that this version cannot read: “\(key)”")
            }
        }
        liveBytes = min(liveBytes, end - RecordFormat.headerLength)
        let flushed = UInt64(
            littleEndian: bytes.loadUnaligned(fromByteOffset: RecordFormat.flushedOffset, as: UInt64.self))
        if flushed > UInt64(end), flushed <= UInt64(RecordFormat.sizeLimit + RecordFormat.reserve) {
            reject("ends at byte \(end), although records up to byte \(flushed) had been flushed")
        }
        guard !RecordFormat.areZeros(UnsafeRawBufferPointer(rebasing: bytes[end...])) else { return }
        problems.append("has no valid record at byte \(end), where \(used - end) more bytes follow")
        salvage(bytes, used: used, from: end, after: crc)
        isComplete = isComplete && salvageable.isEmpty
    }

    private mutating func salvage(_ bytes: UnsafeRawBufferPointer, used: Int, from start: Int?, after crc: UInt32) {
        // A copy of damage lacks the zeros at the end of its last record.
        var padded = [UInt8](repeating: 0, count: used + RecordFormat.valueLimit + 64)
        padded.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<used])) }
        padded.withUnsafeBytes { padded in
            var salvage = Salvage(bytes: padded, used: used, isValue: isValue)
            salvage.run(from: start, after: crc)
            salvageable = salvage.found.map { ($0.key.string, $0.value) }.sorted { $0.key < $1.key }
            if salvage.work <= 0 { problems.append("has damage that takes too long to search completely") }
        }
    }
}
