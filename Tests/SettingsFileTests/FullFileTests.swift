import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests of files at their size limit.
struct FullFileTests: SettingsFileTests {
    private static let limit = 256 << 10

    private func open(_ file: URL, limit: Int) -> DefaultsSuite {
        DefaultsSuite(backend: FileBackend(path: file.path, timeout: .seconds(60), sizeLimit: limit))
    }

    private func key(_ number: Int) -> DefaultKey<Data> { DefaultKey("\(number)", default: Data()) }

    /// Stores values until the file refuses another one, and returns how many.
    private func fill(_ suite: DefaultsSuite, with count: Int) -> Int {
        for number in 0... {
            do { try UserDefault(key(number), in: suite).store.save(Data(repeating: 1, count: count)) } catch {
                return number
            }
        }
        return 0
    }

    @Test(arguments: [100, 5_000, 100_000]) func aFullFileCanBeEmptied(valueLength: Int) throws {
        try withFile { file in
            let suite = open(file, limit: Self.limit)
            let count = fill(suite, with: valueLength)
            try #require(count > 1)
            let other = open(file, limit: Self.limit)
            let failures = [Failures(of: suite), Failures(of: other)]
            for number in 0..<count { (number % 2 == 0 ? suite : other).remove(key(number)) }
            #expect(failures.flatMap(\.kinds) == [])
            #expect(try open(file, limit: Self.limit).keys() == [])
            #expect(fill(suite, with: valueLength) >= count)
        }
    }

    /// The reserve of a full file is for smaller values only.
    @Test func aValueInAFullFileCanBecomeSmaller() throws {
        try withFile { file in
            let suite = open(file, limit: Self.limit)
            let count = fill(suite, with: 5_000)
            for number in 0..<count {
                let store = UserDefault(key(number), in: suite).store
                #expect(fails(with: .refused) { try store.save(Data(repeating: 2, count: 6_000)) })
            }
            #expect(try size(of: file) <= Self.limit)
            for number in 0..<count {
                try UserDefault(key(number), in: suite).store.save(Data(repeating: 2, count: 4_000))
            }
            #expect(open(file, limit: Self.limit)[key(count - 1)].count == 4_000)
        }
    }

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
