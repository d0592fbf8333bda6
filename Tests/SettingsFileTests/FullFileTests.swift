import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests of files at their size limit, and of disks without space.
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

    @Test func aValueInAFullFileCanBecomeSmaller() throws {
        try withFile { file in
            let suite = open(file, limit: Self.limit)
            let count = fill(suite, with: 5_000)
            for number in 0..<count {
                try UserDefault(key(number), in: suite).store.save(Data(repeating: 2, count: 4_000))
            }
            #expect(open(file, limit: Self.limit)[key(count - 1)].count == 4_000)
        }
    }

    /// The reserve of a full file is for smaller values only.
    @Test func aFullFileRefusesLargerValues() throws {
        try withFile { file in
            let suite = open(file, limit: Self.limit)
            let count = fill(suite, with: 5_000)
            for number in 0..<count {
                #expect(
                    fails(with: .refused) {
                        try UserDefault(key(number), in: suite).store.save(Data(repeating: 2, count: 6_000))
                    })
            }
            let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
            #expect(try #require(size) <= Self.limit)
        }
    }

    #if os(Linux)
        /// Returns the offset at which the next record begins.
        private static func end(of path: String) throws -> Int {
            try FileInspection(file: URL(filePath: path)).end
        }

        /// A limit of the process cuts the write where only zeros and the last byte are missing.
        @Test(.ownFile) func aRecordWithoutItsLastByteIsNotStored() async {
            await #expect(processExitsWith: .success) { [path = ownFile as String] in
                let key = DefaultKey("data", default: Data())
                let suite = DefaultsSuite(backend: FileBackend(path: path))
                let store = UserDefault(key, in: suite).store
                try store.save(Data([1]))
                signal(SIGXFSZ, SIG_IGN)
                try cutWrites(at: Self.end(of: path) + 64)
                let zeros = Data(count: 1_000)
                #expect(fails(with: .unavailable) { try store.save(zeros) })
                #expect(fails(with: .unavailable) { try store.save(Data(repeating: 1, count: 1_000)) })
                try cutWrites(at: nil)
                #expect(store.get() == Data([1]))
                #expect(DefaultsSuite(backend: FileBackend(path: path))[key] == Data([1]))
                try store.save(Data([2]))
                #expect(DefaultsSuite(backend: FileBackend(path: path))[key] == Data([2]))
            }
        }
    #endif

    @Test func aFileGrowsInSteps() throws {
        try withFile { file in
            // A flush would compact the file.
            let suite = DefaultsSuite(
                backend: FileBackend(path: file.path, timeout: .seconds(60), flushDelay: .seconds(3_600)))
            var sizes: [Int] = []
            for value in 0..<5_000 {
                suite[number] = value
                let size = try size(of: file)
                if size != sizes.last { sizes.append(size) }
            }
            #expect(sizes.prefix(3) == [4_096, 8_192, 12_288])
        }
    }
}

#if os(Linux)
    /// Makes writes of this process end at an offset; `nil` for no limit.
    private func cutWrites(at offset: Int?) throws {
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(1), &limit) == 0)
        limit.rlim_cur = offset.map { rlim_t($0) } ?? limit.rlim_max
        try #require(setrlimit(__rlimit_resource_t(1), &limit) == 0)
    }
#endif
