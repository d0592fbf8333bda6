#if canImport(Glibc)
    import Foundation
    import Glibc
    import Testing

    @testable import TypedDefaults

    /// A settings file in a folder that its user cannot write, so that it can be written but not replaced. Each test runs in a
    /// process of its own, as another user than root.
    struct ReadOnlyFolderTests {
        /// A file that holds number 1.
        private func makeClosedFile() throws -> URL {
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

        private static func giveUpRights() {
            if geteuid() == 0 { #expect(setgid(65_534) == 0 && setuid(65_534) == 0) }
        }

        private static func open(_ path: String) -> (store: PersistentStore<Int>, failures: Failures) {
            let suite = DefaultsSuite(backend: FileBackend(path: path))
            return (PersistentStore(DefaultKey("number", default: 0), suite: suite), Failures(of: suite))
        }

        /// Commits as another process would, which leaves no flush for later.
        private static func commit(_ edits: [(key: String, value: PropertyList?)], to path: String) throws {
            let backend = FileBackend(path: path)
            var result = Result<Void, DefaultsError>.success(())
            try backend.writing {
                result = Result { () throws(DefaultsError) in try backend.commit(edits) }
            }
            try result.get()
        }

        private static func end(_ path: String) throws -> Int {
            try SettingsFileInspection(file: URL(filePath: path)).end
        }

        private static func write(_ bytes: [UInt8], at offset: Int, of path: String) throws {
            let handle = try FileHandle(forUpdating: URL(filePath: path))
            try handle.seek(toOffset: UInt64(offset))
            try handle.write(contentsOf: Data(bytes))
            try handle.close()
        }

        /// Appends a record of which only some bytes get there.
        private static func tear(_ path: String, keeping kept: Range<Int>) throws {
            let start = try end(path)
            try commit([("torn", .string(String(repeating: "x", count: 9_000)))], to: path)
            let count = try end(path) - start
            for range in [0..<kept.lowerBound, kept.upperBound..<count] {
                try write([UInt8](repeating: 0, count: range.count), at: start + range.lowerBound, of: path)
            }
        }

        /// A writer that was killed leaves the beginning of a record.
        @Test(arguments: [8, 16, 4_000, 8_900], [false, true])
        func anUnfinishedRecordIsErased(count: Int, isOpenBefore: Bool) async throws {
            let file = try makeClosedFile()
            await #expect(processExitsWith: .success) {
                [path = file.path as String, count = count as Int, isOpenBefore = isOpenBefore as Bool] in
                Self.giveUpRights()
                let (store, failures) = Self.open(path)
                if isOpenBefore { #expect(store.get() == 1) }
                try Self.tear(path, keeping: 0..<count)
                #expect(store.get() == 1)
                for number in 2...3 { #expect(throws: Never.self) { try store.save(number) } }
                #expect(failures.kinds == [.unreadable])
                #expect(Self.open(path).store.get() == 3)
                let inspection = try SettingsFileInspection(file: URL(filePath: path))
                #expect(inspection.problems == [])
                #expect(inspection.keys == ["number"])
                #expect(inspection.epoch == 0)
            }
            try remove(file)
        }

        /// A loss of power leaves some blocks of a record.
        @Test(arguments: [512..<9_024, 4_096..<8_192, 0..<512])
        func aRecordThatIsNotAllOnDiskIsErased(kept: Range<Int>) async throws {
            let file = try makeClosedFile()
            await #expect(processExitsWith: .success) { [path = file.path as String, kept = kept as Range<Int>] in
                Self.giveUpRights()
                try Self.tear(path, keeping: kept)
                let (store, failures) = Self.open(path)
                for number in 2...3 { #expect(throws: Never.self) { try store.save(number) } }
                #expect(failures.kinds == [.unreadable])
                let problems = try SettingsFileInspection(file: URL(filePath: path)).problems
                #expect(problems == [])
            }
            try remove(file)
        }

        @Test func aFileThatEndsBehindItsLastRecordTakesWrites() async throws {
            let file = try makeClosedFile()
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                Self.giveUpRights()
                let end = try Self.end(path)
                #expect(truncate(path, off_t(end)) == 0)
                let (store, failures) = Self.open(path)
                for number in 2...3 { #expect(throws: Never.self) { try store.save(number) } }
                #expect(failures.kinds == [])
            }
            try remove(file)
        }

        /// A record that was finished, or that others follow, is damage. No copy of it can be made, so it stays.
        @Test(arguments: [[0], [0, 1]], [4, 20, 8_999])
        func damageThatCannotBeCopiedIsKept(records: [Int], damagedByte: Int) async throws {
            let file = try makeClosedFile()
            await #expect(processExitsWith: .success) {
                [path = file.path as String, records = records as [Int], damagedByte = damagedByte as Int] in
                Self.giveUpRights()
                let start = try Self.end(path)
                for record in records {
                    try Self.commit(
                        [("record-\(record)", .string(String(repeating: "x", count: 9_000)))], to: path)
                }
                try Self.write([0xFF], at: start + damagedByte, of: path)
                let bytes = FileManager.default.contents(atPath: path)
                let (store, _) = Self.open(path)
                #expect(store.get() == 1)
                for _ in 0..<2 {
                    let error = #expect(throws: DefaultsError.self) { try store.save(2) }
                    #expect(error?.kind == .unavailable)
                    #expect(error?.reason.contains("bytes are damaged, and no copy of them can be made") == true)
                }
                #expect(store.get() == 1)
                #expect(FileManager.default.contents(atPath: path) == bytes)
            }
            #expect(try SettingsFileInspection(file: URL(filePath: file.path)).salvageable.count >= records.count - 1)
            try remove(file)
        }
    }
#endif
