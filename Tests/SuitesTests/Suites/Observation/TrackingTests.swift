import Foundation
import Observation
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests that the Observation framework receives external changes, and that reads cost nothing
/// extra without tracking.
struct TrackingTests {
    private static let number = DefaultKey("number", default: 0)

    /// Reads the value with tracking, and calls `fired` when it changes.
    private func track(_ store: AnyStore<Int>, _ fired: @escaping @Sendable () -> Void) {
        withObservationTracking {
            _ = store.get()
        } onChange: {
            fired()
        }
    }

    #if os(macOS) || os(Linux)
        @Test func aWriteOfAnotherProcessFires() async throws {
            let file = try makeFile()
            defer {
                #expect(throws: Never.self) { try FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
            }
            let store = UserDefault(Self.number, in: try DefaultsSuite(file: file)).store
            let (firings, continuation) = AsyncStream.makeStream(of: Void.self)
            var iterator = firings.makeAsyncIterator()
            for value in 1...3 {
                // From the second round on, the value is cached.
                track(store) { continuation.yield() }
                await #expect(processExitsWith: .success) { [path = file.path as String, value = value as Int] in
                    let suite = try DefaultsSuite(file: URL(fileURLWithPath: path))
                    try UserDefault(DefaultKey("number", default: 0), in: suite).store.save(value)
                }
                await iterator.next()
                #expect(store.get() == value)
            }
        }
    #endif

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func observationsReceiveChanges() async {
        let store = UserDefault(Self.number, in: .inMemory()).store
        var numbers: [Int] = []
        for await number in Observations({ store.get() ?? 0 }) {
            numbers.append(number)
            if number == 3 { break }
            store.set(number + 1)
        }
        #expect(numbers == [0, 1, 2, 3])
    }

    @Test func aReadOfSeveralKeysIsTracked() throws {
        let suite = DefaultsSuite.inMemory()
        let other = DefaultKey("other", default: "")
        let fired = Guarded(0)
        func track() {
            withObservationTracking {
                _ = try? suite.read(Self.number, other)
            } onChange: {
                fired.withLock { $0 += 1 }
            }
        }
        track()
        suite[Self.number] = 1
        #expect(fired.withLock { $0 } == 1)
        track()
        suite[other] = "a"
        #expect(fired.withLock { $0 } == 2)
    }

    @Test func anUntrackedReadStartsNoWatch() {
        let backend = SpyBackend(["number": 1])
        let store = UserDefault(Self.number, in: DefaultsSuite(backend: backend)).store
        #expect(store.get() == 1)
        #expect(!backend.isWatched)
    }

    @Test func theWatchEndsWithTheTracking() {
        let backend = SpyBackend(["number": 1, "other": 1])
        let suite = DefaultsSuite(backend: backend)
        let store = UserDefault(Self.number, in: suite).store
        let other = UserDefault(DefaultKey("other", default: 0), in: suite).store
        let fired = Guarded(0)
        track(store) { fired.withLock { $0 += 1 } }
        #expect(backend.isWatched)
        backend.write(2, forKey: "other")
        #expect(fired.withLock { $0 } == 0)
        backend.write(2, forKey: "number")
        #expect(fired.withLock { $0 } == 1)
        #expect(!backend.isWatched)
        track(store) { fired.withLock { $0 += 1 } }
        other.set(5)
        #expect(backend.isWatched)
        store.set(5)
        #expect(fired.withLock { $0 } == 2)
        #expect(!backend.isWatched)
    }

    @Test func changesOfABackendWithoutGenerationsFire() {
        let backend = SpyBackend(hasGenerations: false)
        let store = UserDefault(Self.number, in: DefaultsSuite(backend: backend)).store
        let fired = Guarded(0)
        for value in [1, 2, nil] as [PropertyList?] {
            track(store) { fired.withLock { $0 += 1 } }
            backend.write(value, forKey: "number")
        }
        #expect(fired.withLock { $0 } == 3)
    }

    /// Tracking of several keys ends for all of them when the first one changes.
    @Test func theWatchEndsForAllKeysOfATracker() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let stores = (0..<5).map { UserDefault(DefaultKey("\($0)", default: 0), in: suite).store }
        withObservationTracking {
            for store in stores { _ = store.get() }
        } onChange: {
        }
        stores[0].set(1)
        for value in 2...5 { UserDefault(Self.number, in: suite).store.set(value) }
        #expect(!backend.isWatched)
    }

    @Test func removingAMissingValueIsNotAChange() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let store = UserDefault(Self.number, in: suite).store
        let fired = Guarded(0)
        track(store) { fired.withLock { $0 += 1 } }
        suite.remove(["number", "other"])
        suite.removeAll()
        store.remove()
        #expect(fired.withLock { $0 } == 0)
        #expect(backend.commits.isEmpty)
    }

    @Test func observersAndTrackingEndIndependently() {
        let backend = SpyBackend(["number": 1])
        let store = UserDefault(Self.number, in: DefaultsSuite(backend: backend)).store
        let fired = Guarded(0)
        let token = store.observe { _ in }
        track(store) { fired.withLock { $0 += 1 } }
        token.cancel()
        #expect(backend.isWatched)
        backend.write(2, forKey: "number")
        #expect(fired.withLock { $0 } == 1)
        #expect(!backend.isWatched)
    }

    /// Checks a detail of the Observation framework that has no API: it retains the key paths that
    /// it tracks.
    @Test func theFrameworkRetainsTheKeyPathOfATrackedSlot() {
        #expect(Slot.frameworkKeepsKeyPaths)
        let slot = Slot(
            "number", Conversion<Int>.codable, formerKeys: [])
        #expect(!slot.noteAccess())
        let fired = Guarded(0)
        for count in 1...3 {
            withObservationTracking {
                #expect(slot.noteAccess())
            } onChange: {
                fired.withLock { $0 += 1 }
            }
            #expect(slot.isTracked)
            slot.noteChange()
            #expect(fired.withLock { $0 } == count)
            #expect(!slot.isTracked)
        }
    }

    @Test func withoutKeyPathsEverySlotCountsAsTracked() {
        let slot = Slot(
            "number", Conversion<Int>.codable, formerKeys: [], frameworkKeepsKeyPaths: false)
        #expect(slot.noteAccess())
        slot.noteChange()
        #expect(slot.isTracked)
    }
}
