#if canImport(Glibc)
    import TestSupport
    import Foundation
    import Glibc
    import Testing

    @testable import SettingsFile
    @testable import SettingsFileInspection
    @testable import TypedDefaults

    /// Tests a settings file in a read-only folder, which can be written but not replaced. Each
    /// test runs in a process of its own, as a user other than root.
    @Suite(.ownFile, .ownThreads) struct ReadOnlyFolderTests {
        /// Makes ``ownFile`` a file that holds number 1.
        private static func makeFileInReadOnlyFolder() throws {
            try commit([("number", 1)], to: ownFile)
            if geteuid() == 0 { try #require(chown(ownFile, 65_534, 65_534) == 0) }
            try #require(chmod(ownFolder, 0o555) == 0)
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
            try FileBackend(path: path).write(edits)
        }

        private static func end(_ path: String) throws -> Int {
            try FileInspection(file: URL(filePath: path)).end
        }

        /// Appends a record of 9,024 bytes that is not committed, and of which only a part reaches
        /// the file.
        private static func tear(_ path: String, keeping kept: Range<Int>) throws {
            let start = try end(path)
            // In a copy, so no open store ever sees it whole.
            let copy = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: copy) }
            try #require(FileManager.default.contents(atPath: path)).write(to: copy)
            try commit([("torn", .string(String(repeating: "x", count: 9_000)))], to: copy.path)
            var record = [UInt8](try Data(contentsOf: copy)[start..<end(copy.path)])
            try #require(record.count == 9_024)
            for index in record.indices where !kept.contains(index) { record[index] = 0 }
            try overwrite(URL(filePath: path), at: start, with: record)
        }

        /// A killed writer leaves some bytes of a record, which is not committed. A process that
        /// has the file open writes over them, and the next one that opens it removes what is left.
        @Test(arguments: [0..<8, 0..<3_000, 0..<9_024, 8..<9_024, 3_592..<7_688], [false, true])
        func anUnfinishedRecordIsErased(kept: Range<Int>, isOpenBefore: Bool) async throws {
            try Self.makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) {
                [path = ownFile as String, kept = kept as Range<Int>, isOpenBefore = isOpenBefore as Bool] in
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
                #expect(inspection.keys == ["number"])
                #expect(inspection.epoch == 0)
            }
        }

        @Test func aWriteWithoutAFileReportsTheReadOnlyFolder() async throws {
            try Self.makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                Self.dropPrivileges()
                let error = #expect(throws: DefaultsError.self) { try Self.open(path + "2").store.save(1) }
                #expect(error?.kind == .unavailable)
                #expect(error?.reason.contains("its folder is not writable") == true)
            }
        }

        /// Damage to a complete record, or to one that others follow, stays, because it cannot be
        /// copied: a damaged byte, or zeros in place of the first eight.
        @Test(arguments: [[0], [0, 1]], [0, 4, 20, 8_999])
        func damageThatCannotBeCopiedIsKept(records: [Int], damagedByte: Int) async throws {
            try Self.makeFileInReadOnlyFolder()
            await #expect(processExitsWith: .success) {
                [path = ownFile as String, records = records as [Int], damagedByte = damagedByte as Int] in
                Self.dropPrivileges()
                let start = try Self.end(path)
                for record in records {
                    try Self.commit(
                        [("record-\(record)", .string(String(repeating: "x", count: 9_000)))], to: path)
                }
                let damaged = start + damagedByte
                let old = try Data(contentsOf: URL(filePath: path))[damaged]
                let damage = damagedByte == 0 ? [UInt8](repeating: 0, count: 8) : [~old]
                try overwrite(URL(filePath: path), at: damaged, with: damage)
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
            #expect(
                try FileInspection(file: URL(filePath: ownFile)).salvageableValues.count
                    >= (damagedByte == 0 ? 0 : records.count - 1))
        }
    }
#endif
