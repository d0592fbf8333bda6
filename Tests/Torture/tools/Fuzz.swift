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

/// Reads the bytes as records, once as a whole and once in two parts.
private func readRecords(_ bytes: UnsafeRawBufferPointer) {
    let bytes = Array(bytes)
    var whole = FileLog.Contents(crc: 0)
    var parts = FileLog.Contents(crc: 0)
    _ = whole.apply(bytes, from: 0)
    let end = whole.end - RecordFormat.headerLength
    precondition(end <= bytes.count)
    _ = parts.apply(Array(bytes.prefix(bytes.count / 2)), from: 0)
    _ = parts.apply(bytes, from: parts.end - RecordFormat.headerLength)
    precondition(whole.end == parts.end && whole.crc == parts.crc && whole.values.live == parts.values.live)
    precondition(whole.values.keys.count == parts.values.keys.count)
    for key in whole.values.keys {
        precondition(whole.values.value(forKey: key) == parts.values.value(forKey: key))
    }
}

/// Reads the bytes as the payload of a record with a valid checksum, which random bytes would
/// hardly ever have.
private func readPayload(_ bytes: UnsafeRawBufferPointer) {
    var record = RecordWriter(payload: bytes)
    _ = record.finish(after: 7)
    let bytes = record.withBytes { Array($0) }
    var contents = FileLog.Contents(crc: 7)
    _ = contents.apply(bytes, from: 0)
    precondition([0, bytes.count].contains(contents.end - RecordFormat.headerLength))
    // No record behind the committed end is applied.
    var empty = FileLog.Contents(crc: 7)
    _ = empty.apply(bytes, from: 0, upTo: RecordFormat.headerLength + bytes.count - 1)
    precondition(empty.end == RecordFormat.headerLength && empty.values.keys.isEmpty)
    // A record whose end is missing is not whole, even if it was filled with zeros.
    var cut = FileLog.Contents(crc: 7)
    _ = cut.apply(bytes.dropLast() + [0], from: 0)
    precondition(cut.end == RecordFormat.headerLength)
    for key in contents.values.keys {
        contents.values.value(forKey: key)!.withUnsafeBytes { bytes in
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
