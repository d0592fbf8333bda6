#if canImport(Glibc)
    import TestSupport
    import Foundation
    import Glibc
    import Testing

    @testable import SettingsFile
    @testable import TypedDefaults

    /// Tests a settings file in a read-only folder, which can be written but not replaced. Each
    /// test runs in a process of its own, as a user other than root.
    struct ReadOnlyFolderTests {
        /// Creates a file that holds number 1.
        private func makeFileInReadOnlyFolder() throws -> URL {
            let file = try makeFile()
            try Self.commit([("number", 1)], to: file.path)
            if geteuid() == 0 { try #require(chown(file.path, 65_534, 65_534) == 0) }
            try #require(chmod(file.deletingLastPathComponent().path, 0o555) == 0)
            return file
        }

        private func remove(_ file: URL) throws {
            try #require(chmod(file.deletingLastPathComponent().path, 0o755) == 0)
            try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        }

        private static func dropPrivileges() {
            if geteuid() == 0 { #expect(setgid(65_534) == 0 && setuid(65_534) == 0) }
        }

        private static func open(_ path: String) -> (store: AnyStore<Int>, failures: Failures) {
            let suite = DefaultsSuite(backend: FileBackend(path: path))
            return (UserDefault(DefaultKey("number", default: 0), in: suite).store, Failures(of: suite))
        }

        /// Commits as another process would, without a pending flush.
        private static func commit(_ edits: [(key: String, value: PropertyList?)], to path: String) throws {
            let backend = FileBackend(path: path)
            var result = Result<Void, DefaultsError>.success(())
            try backend.writing {
                result = Result { () throws(DefaultsError) in try backend.commit(edits) }
            }
            try result.get()
        }

        private static func end(_ path: String) throws -> Int {
            try FileInspection(file: URL(filePath: path)).end
        }

        private static func write(_ bytes: [UInt8], at offset: Int, of path: String) throws {
            let handle = try FileHandle(forUpdating: URL(filePath: path))
            try handle.seek(toOffset: UInt64(offset))
            try handle.write(contentsOf: Data(bytes))
            try handle.close()
        }

        /// Commits enough bytes that the next record begins `remainder` bytes after a multiple of
        /// 4,096.
        private static func fill(_ path: String, to remainder: Int) throws {
            func commit(_ count: Int) throws { try Self.commit([("filler", .data(Data(count: count)))], to: path) }
            let start = try end(path)
            try commit(200)
            let filled = try end(path)
            let next = filled + (filled - start)
            try commit(200 + (remainder + 8_192 - next % 4_096) % 4_096)
            try #require(try end(path) % 4_096 == remainder)
        }

        /// Returns the bytes of a record of 9,024 bytes that continues the file.
        ///
        /// The record is appended to a copy of the file, so no open store ever sees it whole.
        private static func record(of letter: Character, after path: String) throws -> (bytes: [UInt8], start: Int) {
            let start = try end(path)
            let copy = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: copy) }
            try #require(FileManager.default.contents(atPath: path)).write(to: copy)
            try commit([("torn", .string(String(repeating: letter, count: 9_000)))], to: copy.path)
            let bytes = try #require(FileManager.default.contents(atPath: copy.path))
            return try ([UInt8](bytes[start..<end(copy.path)]), start)
        }

        /// Inverts one byte. It may be part of a checksum, so any value is possible.
        private static func damage(at offset: Int, of path: String) throws {
            let bytes = try #require(FileManager.default.contents(atPath: path))
            try write([~bytes[offset]], at: offset, of: path)
        }

        /// Appends a record, only some of whose bytes reach the file.
        ///
        /// The record has 9,024 bytes. With the default remainder, the first block boundary comes
        /// after 8 bytes of the record, and the first page boundary after 3,592.
        private static func tear(_ path: String, keeping kept: Range<Int>, at remainder: Int = 504) throws {
            try fill(path, to: remainder)
            var (record, start) = try record(of: "x", after: path)
            let kept = kept.clamped(to: record.indices)
            // The checksum depends on the salt of the file. A zero at the end of the kept bytes
            // would look like a missing byte.
            if record[kept.upperBound - 1] == 0 { (record, start) = try Self.record(of: "y", after: path) }
            try #require(record[kept.upperBound - 1] != 0 || kept.upperBound == record.count)
            try write([UInt8](repeating: 0, count: record.count + 8), at: start, of: path)
            try write(Array(record[kept]), at: start + kept.lowerBound, of: path)
        }

        /// Expects that a write fails and changes nothing.
        private static func expectDamageIsKept(in path: String, _ damage: String = "") {
            let bytes = FileManager.default.contents(atPath: path)
            let error = #expect(throws: DefaultsError.self, "\(damage)") { try commit([("number", 2)], to: path) }
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains("bytes are damaged and cannot be copied to another file") == true)
            #expect(FileManager.default.contents(atPath: path) == bytes, "\(damage)")
            #expect(open(path).store.get() == 1)
        }

        /// A killed writer leaves some bytes of a record, which is not committed. A process that
        /// has the file open writes over them, and the next one that opens it removes what is left.
        @Test(
            arguments: [0..<8, 0..<520, 0..<3_000, 0..<8_712, 4..<9_024, 8..<9_024, 3_592..<7_688], [false, true])
        func anUnfinishedRecordIsErased(kept: Range<Int>, isOpenBefore: Bool) async throws {
            let file = try makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) {
                [path = file.path as String, kept = kept as Range<Int>, isOpenBefore = isOpenBefore as Bool] in
                Self.dropPrivileges()
                let (store, failures) = Self.open(path)
                if isOpenBefore { #expect(store.get() == 1) }
                try Self.tear(path, keeping: kept)
                #expect(store.get() == 1)
                for number in 2...3 { #expect(throws: Never.self) { try store.save(number) } }
                #expect(failures.kinds == [])
                #expect(Self.open(path).store.get() == 3)
                let inspection = try FileInspection(file: URL(filePath: path))
                #expect(inspection.problems == [])
                #expect(inspection.keys == ["filler", "number"])
                #expect(inspection.epoch == 0)
            }
            try remove(file)
        }

        /// The first block of a record is missing, and whole records follow it.
        @Test(arguments: [false, true])
        func recordsAfterZerosAreKept(isOpenBefore: Bool) async throws {
            let file = try makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) {
                [path = file.path as String, isOpenBefore = isOpenBefore as Bool] in
                Self.dropPrivileges()
                try Self.fill(path, to: 504)
                let start = try Self.end(path)
                for key in ["first", "second"] {
                    try Self.commit([(key, .string(String(repeating: "x", count: 9_000)))], to: path)
                }
                try Self.write([UInt8](repeating: 0, count: 8), at: start, of: path)
                let (store, _) = Self.open(path)
                if isOpenBefore { #expect(store.get() == 1) }
                let bytes = FileManager.default.contents(atPath: path)
                for _ in 0..<2 {
                    let error = #expect(throws: DefaultsError.self) { try store.save(2) }
                    #expect(error?.reason.contains("bytes are damaged and cannot be copied to another file") == true)
                }
                #expect(store.get() == 1)
                #expect(FileManager.default.contents(atPath: path) == bytes)
                Self.expectDamageIsKept(in: path)
            }
            try remove(file)
        }

        /// Flips each bit of the last record in turn.
        ///
        /// The zeros of the value begin at a block boundary, so only the checksum shows that the
        /// record is complete.
        @Test(arguments: [0, 600, 3_000])
        func aCompleteRecordWithAFlippedBitIsKept(zeroCount: Int) async throws {
            let file = try makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) { [path = file.path as String, zeroCount = zeroCount as Int] in
                Self.dropPrivileges()
                // There are 48 bytes before the zeros.
                try Self.fill(path, to: 4_096 - 48)
                let start = try Self.end(path)
                try Self.commit(
                    [
                        ("other", .data(Data(repeating: 7, count: zeroCount == 0 ? 21 : 18))),
                        ("zeros", .data(Data(count: zeroCount))),
                    ],
                    to: path)
                let bytes = [UInt8](try #require(FileManager.default.contents(atPath: path)))
                let end = try Self.end(path)
                let used = min(start + 48, end - 1)
                for offset in Array(start..<used) + [end - 1] {
                    for bit in 0..<8 {
                        try Self.write([bytes[offset] ^ 1 << bit], at: offset, of: path)
                        Self.expectDamageIsKept(in: path, "byte \(offset - start), bit \(bit)")
                        try Self.write(Array(bytes[start..<end]), at: start, of: path)
                    }
                }
                // The other bytes of the record are zeros. A flipped bit among them moves the
                // beginning of the zeros.
                for offset in stride(from: used, to: end - 1, by: 97) {
                    try Self.write([1], at: offset, of: path)
                    Self.expectDamageIsKept(in: path, "byte \(offset - start)")
                    try Self.write([0], at: offset, of: path)
                }
            }
            try remove(file)
        }

        /// Damages several bits of a record whose value consists of zeros.
        @Test(arguments: [4, 12], [[], ["last"]])
        func aCompleteRecordWithZerosIsKept(damagedByte: Int, otherKeys: [String]) async throws {
            let file = try makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) {
                [path = file.path as String, damagedByte = damagedByte as Int, otherKeys = otherKeys as [String]] in
                Self.dropPrivileges()
                let start = try Self.end(path)
                try Self.commit(
                    [("other", true), ("zeros", .data(Data(count: 3_000)))] + otherKeys.map { ($0, true) }, to: path)
                for offset in [0, 1] { try Self.damage(at: start + damagedByte + offset, of: path) }
                Self.expectDamageIsKept(in: path)
            }
            try remove(file)
        }

        /// A record with a valid checksum is committed, even if this version does not know its
        /// operation.
        @Test func aRecordWithAnUnknownOperationIsKept() async throws {
            let file = try makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                Self.dropPrivileges()
                try Self.fill(path, to: 504)
                let bytes = try #require(FileManager.default.contents(atPath: path))
                var (end, crc) = (64, bytes.withUnsafeBytes { Salvage.word(in: $0, at: 60) })
                bytes.withUnsafeBytes { bytes in
                    while let commit = RecordFormat.commit(in: bytes, at: end, after: crc) {
                        (end, crc) = (commit.end, commit.crc)
                    }
                }
                // The zeros of the payload begin at a block boundary.
                let payload = [UInt8](repeating: 9, count: 512) + [UInt8](repeating: 0, count: 2_000)
                let record = payload.withUnsafeBytes { payload in
                    var record = RecordWriter(payload: payload)
                    _ = record.finish(after: crc)
                    return record.withBytes { Array($0) }
                }
                try Self.write(record, at: end, of: path)
                let committed = UInt32(end + record.count).littleEndian
                try Self.write(withUnsafeBytes(of: committed) { Array($0) }, at: RecordFormat.committedOffset, of: path)
                Self.expectDamageIsKept(in: path)
            }
            try remove(file)
        }

        @Test func aWriteWithoutAFileReportsTheReadOnlyFolder() async throws {
            let file = try makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                Self.dropPrivileges()
                let error = #expect(throws: DefaultsError.self) { try Self.open(path + "2").store.save(1) }
                #expect(error?.kind == .unavailable)
                #expect(error?.reason.contains("its folder is not writable") == true)
            }
            try remove(file)
        }

        @Test func aFileThatEndsAfterItsLastRecordIsWritable() async throws {
            let file = try makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                Self.dropPrivileges()
                let end = try Self.end(path)
                #expect(truncate(path, off_t(end)) == 0)
                let (store, failures) = Self.open(path)
                for number in 2...3 { #expect(throws: Never.self) { try store.save(number) } }
                #expect(failures.kinds == [])
            }
            try remove(file)
        }

        /// A complete record, or one that others follow, is damage. It stays, because it cannot be
        /// copied.
        @Test(arguments: [[0], [0, 1]], [4, 20, 8_999])
        func damageThatCannotBeCopiedIsKept(records: [Int], damagedByte: Int) async throws {
            let file = try makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) {
                [path = file.path as String, records = records as [Int], damagedByte = damagedByte as Int] in
                Self.dropPrivileges()
                let start = try Self.end(path)
                for record in records {
                    try Self.commit(
                        [("record-\(record)", .string(String(repeating: "x", count: 9_000)))], to: path)
                }
                try Self.damage(at: start + damagedByte, of: path)
                let bytes = FileManager.default.contents(atPath: path)
                let (store, _) = Self.open(path)
                #expect(store.get() == 1)
                for _ in 0..<2 {
                    let error = #expect(throws: DefaultsError.self) { try store.save(2) }
                    #expect(error?.kind == .unavailable)
                    #expect(error?.reason.contains("bytes are damaged and cannot be copied to another file") == true)
                }
                #expect(store.get() == 1)
                #expect(FileManager.default.contents(atPath: path) == bytes)
            }
            #expect(try FileInspection(file: URL(filePath: file.path)).salvageableValues.count >= records.count - 1)
            try remove(file)
        }

        /// The permissions of a file, or of its file system, may change while it is open.
        @Test func aFileThatBecomesWritableIsWritten() async throws {
            let file = try makeFile()
            try Self.commit([("number", 1)], to: file.path)
            for path in [file.path, file.deletingLastPathComponent().path] where geteuid() == 0 {
                try #require(chown(path, 65_534, 65_534) == 0)
            }
            try #require(chmod(file.path, 0o400) == 0)
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                Self.dropPrivileges()
                let (store, _) = Self.open(path)
                #expect(try store.load() == 1)
                for value in 2...3 { #expect(fails(with: .unavailable) { try store.save(value) }) }
                #expect(chmod(path, 0o600) == 0)
                try store.save(4)
                #expect(Self.open(path).store.get() == 4)
            }
            try remove(file)
        }
    }
#endif
