/// What a settings file looks like from outside, and what could be saved from one that is damaged.
package struct FileInspection: Sendable {
    /// What is wrong, in sentences that follow the file's name; empty if nothing is.
    package private(set) var problems: [String] = []
    package private(set) var version: Int?
    package private(set) var epoch: UInt64?
    package private(set) var size = 0
    package private(set) var end = 0
    package private(set) var records = 0
    package private(set) var liveBytes = 0
    package private(set) var keys: [String] = []
    /// The last edit of each key in whole records behind the damage, sorted; `nil` for a removal.
    package private(set) var salvageable: [(key: String, value: [UInt8]?)] = []

    /// Reads a settings file without its lock and leaves it unchanged.
    ///
    /// - Parameter isValue: Whether the bytes are a value that this version can read.
    package init(
        path: String, isValue: @escaping (UnsafeRawBufferPointer) -> Bool
    ) throws(SettingsFileError) {
        do throws(FileFailure) {
            let bytes = try read(path)
            if let bytes { bytes.withUnsafeBytes { inspect($0, isValue: isValue) } }
        } catch {
            throw SettingsFileError(.unavailable, reason: "the file \(path) cannot be inspected: \(error.reason)")
        }
    }
}

extension FileInspection {
    /// The bytes of the file; nil if it is not one to read.
    private mutating func read(_ path: String) throws(FileFailure) -> [UInt8]? {
        // By bytes: a slash and a combining mark behind it are one character.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.flatMap { String(path.utf8[...$0]) } ?? "."
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        let directory = try File.existingDirectory(folder)
        let status = try directory.status(of: name)
        size = status.size
        if try directory.status().isOpenToAll { problems.append("lies in a folder that everybody can write") }
        guard status.isRegular else {
            problems.append("is not a regular file")
            return nil
        }
        if !status.isOwn { problems.append("belongs to another user") }
        if status.links > 1 { problems.append("has more than one name") }
        if status.mode & 0o177 != 0 { problems.append("has permissions wider than 0600") }
        let limit = RecordFormat.sizeLimit + RecordFormat.step
        if size > limit { problems.append("is larger than \(RecordFormat.sizeLimit >> 20) MiB") }
        return try directory.file(name, .readOnly).read(at: 0, count: min(size, limit))
    }

    private mutating func inspect(_ bytes: UnsafeRawBufferPointer, isValue: @escaping (UnsafeRawBufferPointer) -> Bool)
    {
        let used = RecordFormat.countBeforeZeros(bytes)
        // Nothing has been written to it yet.
        guard used > 0 else { return }
        do throws(FileFailure) {
            let fields = try RecordFormat.fields(ofHeader: Array(bytes.prefix(RecordFormat.headerLength)))
            (version, epoch) = (Int(bytes[8]), fields.epoch)
            readRecords(bytes, used: used, after: fields.crc, isValue)
        } catch {
            problems.append("is not one that can be read: \(error.reason)")
            let crc = Salvage.word(in: bytes, at: RecordFormat.headerLength - 4)
            let header = UnsafeRawBufferPointer(rebasing: bytes.prefix(RecordFormat.headerLength - 4))
            // One that is newer is whole.
            guard CRC32C.checksum(of: header) != crc else { return }
            salvage(bytes, used: used, from: nil, after: crc, isValue)
        }
    }

    private mutating func readRecords(
        _ bytes: UnsafeRawBufferPointer, used: Int, after crc: UInt32,
        _ isValue: @escaping (UnsafeRawBufferPointer) -> Bool
    ) {
        var (index, changed) = (FileIndex(crc: crc), [String]?.none)
        let all = UnsafeRawBufferPointer(rebasing: bytes[RecordFormat.headerLength...])
        let stop = index.readOn(all, changed: &changed)
        end = index.end
        liveBytes = min(index.live, end - RecordFormat.headerLength)
        keys = index.keys.sorted()
        var place = RecordFormat.headerLength
        while place < end, let count = RecordFormat.payloadCount(Salvage.word(in: bytes, at: place)) {
            place += RecordFormat.length(ofPayload: count)
            records += 1
        }
        for key in keys {
            let value = index.place(ofKey: key).map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
            if value.map(isValue) != true {
                problems.append("holds no value that this version knows: “\(key)”")
            }
        }
        if stop == .seal {
            problems.append(
                "is sealed at byte \(end): somebody is replacing it, or died at that; the next writer takes the seal back"
            )
        } else if used > end {
            problems.append("has no good record at byte \(end), and \(used - end) bytes from there on")
            salvage(bytes, used: used, from: end, after: index.crc, isValue)
        } else if stop != .nothing {
            problems.append("was cut off at byte \(bytes.count), behind its last record or some that are lost")
        }
    }

    private mutating func salvage(
        _ bytes: UnsafeRawBufferPointer, used: Int, from start: Int?, after crc: UInt32,
        _ isValue: @escaping (UnsafeRawBufferPointer) -> Bool
    ) {
        // In a copy kept aside the zeros that a record ends with are cut off.
        var padded = [UInt8](repeating: 0, count: used + RecordFormat.valueLimit + RecordFormat.step)
        padded.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<used])) }
        padded.withUnsafeBytes { padded in
            var salvage = Salvage(bytes: padded, used: used, isValue: isValue)
            salvage.run(from: start, after: crc)
            salvageable = salvage.found.map { ($0.key.string, $0.value) }.sorted { $0.key < $1.key }
            if salvage.work <= 0 {
                problems.append("is damaged in a way that takes too long to look through to its end")
            }
        }
    }
}
