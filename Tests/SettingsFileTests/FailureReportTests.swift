import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests how often failures are reported and compactions are tried.
struct FailureReportTests: SettingsFileTests {
    /// While a writer holds the lock, failures wait for its end.
    @Test func everyFailureOfAWriteIsReported() throws {
        try withFile { file in
            let other = FileBackend(path: file.path)
            for key in ["a", "b"] { try other.write([(key, 1)]) }
            let end = try FileInspection(file: URL(filePath: file.path)).end
            try overwrite(file, at: end - 4, with: [1, 2, 3])
            let reports = Guarded<[String]>([])
            let backend = FileBackend(path: file.path, durability: .process, timeout: .seconds(2), sizeLimit: 256 << 10)
            backend.watch(.failures) { event in
                if case .failed(let error) = event { reports.withLock { $0.append(error.reason) } }
            }
            try backend.writing {
                // Opening the file has set the damage aside.
                #expect(throws: Never.self) { try backend.commit([("c", 2)]) }
                #expect(reports.withLock { $0 }.isEmpty)
            }
            let copies = try names(beside: file)
                .filter { $0.contains(".damaged-") }
            let reasons = reports.withLock { $0 }
            #expect(copies.count == 1 && reasons.count == 1)
            for copy in copies { #expect(reasons.contains { $0.hasSuffix(copy) }) }
            #expect(open(file)[DefaultKey("c", default: 0)] == 2)
        }
    }

    #if os(Linux)
        /// One report says why the file grows.
        @Test func aFailedCompactionIsReportedOnce() throws {
            try withFile { file in
                let backend = FileBackend(path: file.path)
                let reports = Guarded<[String]>([])
                backend.watch(.failures) { event in
                    if case .failed(let error) = event { reports.withLock { $0.append(error.reason) } }
                }
                func grow(_ count: Int) throws {
                    for length in 12_000..<(12_000 + count) {
                        try backend.write([("filler", .string(String(repeating: "x", count: length)))])
                    }
                }
                try grow(6)
                // A folder that has the temporary name. A commit tries, too.
                let temporary = file.deletingLastPathComponent().appending(path: ".test.defaults.new")
                try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
                for count in [20, 400] {
                    try backend.synchronize()
                    #expect(reports.withLock { $0 }.count == 1)
                    #expect(reports.withLock { $0 }.first?.contains(".test.defaults.new is in the way") == true)
                    try grow(count)
                }
                #expect(try size(of: file) > RecordFormat.busySize)
                try FileManager.default.removeItem(at: temporary)
                try grow(200)
                #expect(try size(of: file) < RecordFormat.busySize)
                try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
                try grow(400)
                #expect(reports.withLock { $0 }.count == 2)
            }
        }
    #endif

    /// Fills a file to its last byte. A value that is eight bytes longer is refused.
    @Test func aFileHoldsExactlyItsLimit() throws {
        let limit = 256 << 10
        func store(_ file: URL) -> AnyStore<Data> {
            let backend = FileBackend(path: file.path, durability: .process, timeout: .seconds(2), sizeLimit: limit)
            return UserDefault(DefaultKey("data", default: Data()), in: DefaultsSuite(backend: backend)).store
        }
        func inspection(_ file: URL) throws -> FileInspection {
            try FileInspection(file: URL(filePath: file.path))
        }
        let full = limit
        var count = 100_000
        try withFile { file in
            try store(file).save(Data(count: count))
            count += full - (try inspection(file).end)
        }
        try withFile { file in
            #expect(fails(with: .refused) { try store(file).save(Data(count: count + 8)) })
            try store(file).save(Data(count: count))
            let inspection = try inspection(file)
            #expect((inspection.end, inspection.size) == (full, limit))
            #expect(store(file).get()?.count == count)
        }
    }
}
