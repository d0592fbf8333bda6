import SettingsFile
package import TypedDefaults

/// The state of a settings file, and the values that can be recovered from a damaged one.
package struct FileInspection: Sendable {
    /// Phrases that follow the file's name; empty if nothing is wrong.
    package private(set) var problems: [String] = []
    /// Whether ``keys`` are all keys that were known to be on the disk. A record that no flush has
    /// covered, and that a dead writer or a power failure left unfinished, is not missing.
    package private(set) var isComplete = true
    /// Whether no program can open the file, because its header is damaged.
    package private(set) var isHeaderDamaged = false
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

    /// Reads a settings file and leaves it unchanged. Returns `nil` if it does not exist.
    ///
    /// - Parameter path: An absolute path.
    package init?(_ path: String) throws(DefaultsError) {
        do throws(FileFailure) { try inspect(path) } catch let error where error.isMissing {
            return nil
        } catch {
            throw DefaultsError(.unavailable, reason: "the file \(path) cannot be inspected: \(error.reason)")
        }
    }

    private mutating func inspect(_ path: String) throws(FileFailure) {
        var location = SettingsFileLocation(path: path)
        var directory = try File.existingDirectory(location.folder)
        if try directory.target(ofLink: location.name) != nil {
            do throws(FileFailure) { (location, directory) = try location.followingLinks() } catch {
                // A link into a missing folder is no missing file, which would be an empty suite.
                throw FileFailure(error.reason, code: error.isMissing ? 0 : error.code)
            }
        }
        guard try checkStatus(of: location.name, in: directory) else { return }
        let file = try directory.file(location.name, .readOnly)
        // First: a writer may be at work behind this end.
        let header = try file.read(at: 0, count: RecordFormat.headerLength)
        let bytes = try file.read(at: 0, count: min(file.status().size, RecordFormat.sizeLimit))
        let committed = header.withUnsafeBytes { Self.word(in: $0, at: RecordFormat.committedOffset) }
        let flushed = header.withUnsafeBytes { Self.word(in: $0, at: RecordFormat.flushedOffset) }
        bytes.withUnsafeBytes { inspect($0, upTo: CommittedEnd(rawValue: committed).limit(flushed: flushed)) }
    }
}

extension FileInspection {
    /// Returns whether it is a regular file.
    private mutating func checkStatus(of name: String, in directory: File) throws(FileFailure) -> Bool {
        let status = try directory.status(of: name)
        size = status.size
        if try directory.status().isWorldWritable, try !directory.isMountRoot {
            reject("is in a folder that is writable by all users")
        }
        guard status.isRegular else {
            reject("is not a regular file")
            return false
        }
        let isReadOnly = !status.isOfThisUser && status.isOfRoot && status.isPrivate
        let ownership = "belongs to the user \(status.owner)"
        if !status.isOfThisUser, !isReadOnly { reject(ownership) }
        // An own folder holds no policy of an administrator.
        if isReadOnly, try directory.status().isOfThisUser { problems.append(ownership) }
        if status.links == 0 { reject("is mounted without its folder, and its original was removed or replaced") }
        if status.links > 1 { reject("has more than one hard link") }
        let widest: UInt32 = status.isOfRoot ? 0o644 : 0o600
        if status.mode & 0o777 & ~widest != 0, !isReadOnly {
            problems.append("has permissions wider than 0\(String(widest, radix: 8))")
        }
        if size > RecordFormat.sizeLimit { reject("is larger than \(RecordFormat.sizeLimit >> 20) MiB") }
        return true
    }

    /// Adds a problem that may have caused keys to be missing.
    private mutating func reject(_ problem: String) {
        problems.append(problem)
        isComplete = false
    }

    private mutating func inspect(_ bytes: UnsafeRawBufferPointer, upTo committed: Int) {
        // The library creates no such file. Writers treat it as an empty suite.
        guard bytes.contains(where: { $0 != 0 }) else { return reject(bytes.isEmpty ? "is empty" : "holds only zeros") }
        do throws(FileFailure) {
            let fields = try RecordFormat.fields(ofHeader: Array(bytes.prefix(RecordFormat.headerLength))[...])
            (version, epoch) = (Int(truncatingIfNeeded: bytes[8]), fields.epoch)
            readRecords(bytes, after: fields.crc, upTo: committed)
        } catch {
            reject("cannot be read: \(error.reason)")
            // Either the checksum is damaged, or what it covers.
            let crcs = [Salvage.word(in: bytes, at: 60), RecordFormat.checksum(ofHeader: bytes)]
            // A file of another version is not damaged.
            guard crcs[0] != crcs[1] else { return }
            isHeaderDamaged = true
            salvage(bytes, from: nil, after: crcs)
        }
    }

    private mutating func readRecords(_ bytes: UnsafeRawBufferPointer, after crc: UInt32, upTo committed: Int) {
        var (values, payloads, crc) = (KeyTable(), [Range<Int>](), crc)
        end = RecordFormat.headerLength
        while let commit = RecordFormat.commit(in: bytes, at: end, after: crc), commit.end <= committed {
            payloads.append(commit.payload)
            (end, crc, records) = (commit.end, commit.crc, records + 1)
        }
        values.apply(Records(bytes: Array(bytes), payloads: payloads))
        keys = values.keys.sorted()
        for key in keys {
            if let value = values.value(forKey: key), value.withUnsafeBytes(ByteReader.wholeValue) != nil {
                self.values.append((key, value))
            } else {
                problems.append("has a value that this version cannot read: “\(key)”")
            }
        }
        liveBytes = min(values.live, end - RecordFormat.headerLength)
        let flushed = Self.word(in: bytes, at: RecordFormat.flushedOffset)
        if flushed > UInt64(end), flushed <= UInt64(RecordFormat.sizeLimit + RecordFormat.reserve) {
            reject("ends at byte \(end), although records up to byte \(flushed) had been flushed")
        }
        guard end < committed, !RecordFormat.areZeros(UnsafeRawBufferPointer(rebasing: bytes[end...])) else { return }
        salvage(bytes, from: end, after: [crc])
        problems.append(
            "has no valid record at byte \(end), although the file has \(bytes.count - end) more bytes"
                + (salvageable.isEmpty ? "; perhaps it was copied during a write" : ""))
        isComplete = isComplete && salvageable.isEmpty
    }

    private static func word(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        bytes.count < offset + 8
            ? 0 : UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private mutating func salvage(_ bytes: UnsafeRawBufferPointer, from start: Int?, after crcs: [UInt32]) {
        // A copy of damage lacks the zeros at the end of its last record.
        var padded = [UInt8](repeating: 0, count: bytes.count + RecordFormat.valueLimit + 64)
        padded.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
        padded.withUnsafeBytes { padded in
            var salvage = Salvage(bytes: padded, used: bytes.count)
            salvage.run(from: start, after: crcs)
            salvageable = salvage.found.map { ($0.key.string, $0.value) }.sorted { $0.key < $1.key }
            if salvage.work <= 0 { problems.append("has too much damage to search completely") }
        }
    }
}
