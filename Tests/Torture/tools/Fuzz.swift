// The entry point for libFuzzer. Tests/Torture/fuzz compiles it together with the library's
// sources.
//
// No input may cause a trap, a hang or a leak, and the preconditions here must hold for all inputs.

@testable import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// Safe: libFuzzer runs on one thread.
nonisolated(unsafe) private var rounds = 0
private let folder = ProcessInfo.processInfo.environment["FUZZ_FOLDER"]!
/// Whether to fuzz whole files instead of records. Files take a hundred times as long.
private let takesFiles = ProcessInfo.processInfo.environment["FUZZ_FILES"] != nil
private let hasPlantedFault = ProcessInfo.processInfo.environment["FUZZ_PLANTED"] != nil

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 3 else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: start + 1, count: count - 1)
    switch (takesFiles, start[0] & 1) {
    case (false, 0): readRecords(bytes)
    case (false, _): readPayload(bytes)
    case (true, 0): openFile(Array(bytes))
    case (true, _): openFile(makeFile(bytes))
    }
    return 0
}

/// The records at the start of some bytes, their end, and the checksum after them.
private func records(
    _ bytes: [UInt8], from start: Int = 0, after crc: UInt32
) -> (table: KeyTable, end: Int, crc: UInt32) {
    var (payloads, end, crc, table) = ([Range<Int>](), start, crc, KeyTable())
    bytes.withUnsafeBytes { bytes in
        while let commit = RecordFormat.commit(in: bytes, at: end, after: crc) {
            payloads.append(commit.payload)
            (end, crc) = (commit.end, commit.crc)
        }
    }
    table.apply(Records(bytes: bytes, payloads: payloads))
    return (table, end, crc)
}

/// Reads the bytes as records, once as a whole and once in two parts.
private func readRecords(_ bytes: UnsafeRawBufferPointer) {
    let bytes = Array(bytes)
    let whole = records(bytes, after: 0)
    precondition(whole.end <= bytes.count)
    let first = records(Array(bytes.prefix(bytes.count / 2)), after: 0)
    let second = records(bytes, from: first.end, after: first.crc)
    precondition(whole.end == second.end && whole.crc == second.crc)
}

/// Reads the bytes as the payload of a record with a valid checksum, which random bytes would
/// hardly ever have.
private func readPayload(_ bytes: UnsafeRawBufferPointer) {
    var record = RecordWriter(payload: bytes)
    _ = record.finish(after: 7)
    let bytes = record.withBytes { Array($0) }
    let contents = records(bytes, after: 7)
    precondition([0, bytes.count].contains(contents.end))
    // A record whose end is missing is not whole, even if it was filled with zeros.
    precondition(records(bytes.dropLast() + [0], after: 7).end == 0)
    for key in contents.table.keys {
        contents.table.value(forKey: key)!.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let value = reader.value(), reader.isAtEnd else { return }
            if hasPlantedFault, case .array(let elements) = value, elements.count > 1 { fatalError("planted") }
            var writer = ByteWriter(capacity: 16)
            writer.append(value)
            precondition(
                writer.withBytes { bytes in
                    var reader = ByteReader(bytes)
                    return reader.value() == value && reader.isAtEnd
                })
        }
    }
}

/// Creates a file of valid records from the bytes, and changes one byte of it if the input says so.
private func makeFile(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var file = RecordFormat.header(epoch: 1, end: RecordFormat.headerLength)
    var crc = file[60..<64].withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
    var rest = bytes[2...].prefix(4_096)
    while let first = rest.first {
        let payload = rest.dropFirst().prefix(Int(first))
        rest = rest.dropFirst(1 + payload.count)
        guard !payload.isEmpty else { continue }
        var record = RecordWriter(payload: UnsafeRawBufferPointer(rebasing: payload))
        crc = record.finish(after: crc)
        record.withBytes { file += $0 }
    }
    file += [UInt8](repeating: 0, count: 4_096)
    if bytes[0] != 0 { file[(Int(bytes[0]) << 8 | Int(bytes[1])) % file.count] ^= bytes[0] }
    return file
}

/// Opens the bytes as a file, with two suites that share no state.
private func openFile(_ bytes: [UInt8]) {
    rounds += 1
    let path = "\(folder)/\(rounds)/fuzz.defaults"
    do {
        try FileManager.default.createDirectory(atPath: "\(folder)/\(rounds)", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: "\(folder)/\(rounds)") }
        try Data(bytes).write(to: URL(filePath: path))
        let suite = DefaultsSuite(backend: FileBackend(path: path))
        suite.onFailure = { _ in }
        let keys: [String]
        do { keys = try suite.keys() } catch {
            // It is not a settings file, and must stay unchanged.
            precondition(FileManager.default.contents(atPath: path) == Data(bytes))
            return
        }
        for key in keys { _ = suite[DefaultKey<PropertyList?>(key)] }
        let store = UserDefault(DefaultKey("fuzz", default: 0), in: suite).store
        try store.save(rounds)
        let other = DefaultsSuite(backend: FileBackend(path: path))
        precondition(other[DefaultKey("fuzz", default: 0)] == rounds)
        let others = try other.keys()
        precondition(others == Set(keys + ["fuzz"]).sorted())
    } catch {
        preconditionFailure("\(error)")
    }
}
