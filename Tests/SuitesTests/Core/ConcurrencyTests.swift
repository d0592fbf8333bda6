import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Runs under ThreadSanitizer with `.ci/thread-sanitizer`.
struct ConcurrencyTests {
    /// A value whose decoding writes a setting. It is stored as a dictionary or as an array.
    private struct Writing: Codable, Sendable {
        static let whenDecoded = Guarded<(@Sendable () -> Void)?>(nil)
        var number: Int
        var isArray: Bool

        init(_ number: Int, isArray: Bool) { (self.number, self.isArray) = (number, isArray) }

        private enum CodingKeys: CodingKey { case number }

        init(from decoder: any Decoder) throws {
            if let container = try? decoder.container(keyedBy: CodingKeys.self) {
                self.init(try container.decode(Int.self, forKey: .number), isArray: false)
            } else {
                var container = try decoder.unkeyedContainer()
                self.init(try container.decode(Int.self), isArray: true)
            }
            Self.whenDecoded.withLock { $0 }?()
        }

        func encode(to encoder: any Encoder) throws {
            if isArray {
                var container = encoder.unkeyedContainer()
                try container.encode(number)
            } else {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(number, forKey: .number)
            }
        }
    }

    /// The first write over a value of another program decodes that value, while no lock is held.
    @Test(.serialized, arguments: [false, true])
    func theDecodingOfAReplacedValueMayWrite(isArray: Bool) throws {
        let path = try makeFile().path
        let (key, decoded) = (DefaultKey<Writing?>("value"), DefaultKey("decoded", default: 0))
        DefaultsSuite(backend: FileBackend(path: path))[key] = Writing(1, isArray: isArray)
        let suite = DefaultsSuite(backend: FileBackend(path: path))
        let failures = Failures(of: suite)
        // The first write of a form reads it back.
        suite[DefaultKey<Writing?>("other")] = Writing(1, isArray: isArray)
        Writing.whenDecoded.withLock { $0 = { suite[decoded] += 1 } }
        defer { Writing.whenDecoded.withLock { $0 = nil } }
        suite[key] = Writing(2, isArray: isArray)
        #expect(suite[decoded] > 0)
        #expect(failures.all.isEmpty)
        #expect(suite[key]?.number == 2)
    }

    /// While a commit runs, a cached value may be older than one that the backend already has.
    @Test(arguments: [true, false]) func readersAskTheBackendDuringACommit(isKnown: Bool) throws {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let keys = (DefaultKey("a", default: 0), DefaultKey("b", default: 0))
        if isKnown { #expect((suite[keys.0], suite[keys.1]) == (0, 0)) }
        let seen = Guarded<[Int]>([])
        backend.interrupt { call in
            if call == .commit { #expect((suite[keys.0], suite[keys.1]) == (0, 0)) }
            if call == .committed { seen.withLock { $0 = [suite[keys.0], suite[keys.1]] } }
        }
        try suite.update { contents in (contents[keys.0], contents[keys.1]) = (1, 2) }
        #expect(seen.withLock { $0 } == [1, 2])
        backend.interrupt(nil)
        #expect((suite[keys.0], suite[keys.1]) == (1, 2))
    }

    @Test(arguments: Backend.allCases)
    func readersAndWritersOnManyThreadsSeeWholeValues(backend: Backend) throws {
        try backend.withSuite { suite in
            let store = PersistentStore<CameraConfig>(in: suite)
            let other = DefaultKey("other", default: 0)
            let whole: Set<CameraConfig.Size> = [.large, .small]
            store.set(CameraConfig(savesToCameraRoll: true, size: .large))
            onThreads(8) { index in
                for round in 0..<200 {
                    switch index % 4 {
                    case 0: store.set(CameraConfig(savesToCameraRoll: true, size: .large))
                    case 1: store.set(CameraConfig(savesToCameraRoll: false, size: .small))
                    case 2: suite[other] = round
                    default:
                        guard let config = store.get() else {
                            Issue.record("nothing was read")
                            continue
                        }
                        if !whole.contains(config.size) || config.savesToCameraRoll != (config.size == .large) {
                            Issue.record("a mix of two values was read")
                        }
                        _ = PersistentStore<CameraConfig>(in: suite).get()
                    }
                }
            }
        }
    }

    private final class Racy: @unchecked Sendable { var number = 0 }

    /// The control of that script: if this race is not reported, missing reports mean nothing.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TYPED_DEFAULTS_PLANTED_RACE"] != nil))
    func aPlantedRaceIsCaught() {
        let racy = Racy()
        onThreads(2) { _ in
            for _ in 0..<3_000_000 { racy.number += 1 }
        }
        #expect(racy.number > 0)
    }
}
