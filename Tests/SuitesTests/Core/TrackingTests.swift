import Foundation
import Observation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// Tests that the Observation framework receives external changes, and that reads cost nothing
/// extra without tracking.
@Suite(.ownThreads) struct TrackingTests {
    private static let number = DefaultKey("number", default: 0)

    /// The framework notes what to call only after the read.
    @Test(arguments: Backend.allCases) func aChangeBetweenAReadAndItsTrackingHidesNoLaterOne(backend: Backend) throws {
        try backend.withSuite { suite in
            let key = DefaultKey("number", default: 0)
            let fired = Guarded(0)
            withObservationTracking {
                _ = suite[key]
                onThread { suite[key] = 1 }.wait()
            } onChange: {
                fired.withLock { $0 += 1 }
            }
            suite[key] = 2
            #expect(fired.withLock { $0 } == 1)
        }
    }

    #if os(macOS) || os(Linux)
        @Test(.ownFile) func aWriteOfAnotherProcessFires() async throws {
            let store = UserDefault(Self.number, in: try DefaultsSuite(file: URL(filePath: ownFile))).store
            let (firings, continuation) = AsyncStream.makeStream(of: Void.self)
            var iterator = firings.makeAsyncIterator()
            for value in 1...3 {
                // From the second round on, the value is cached.
                withObservationTracking {
                    _ = store.get()
                } onChange: {
                    continuation.yield()
                }
                await #expect(processExitsWith: .success) { [path = ownFile as String, value = value as Int] in
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
        func track() { fired.track { _ = try? suite.read(Self.number, other) } }
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

    @Test func changesOfABackendWithoutGenerationsFire() {
        let backend = SpyBackend(hasGenerations: false)
        let suite = DefaultsSuite(backend: backend)
        let store = UserDefault(Self.number, in: suite).store
        let fired = Guarded(0)
        for value in [1, 2, nil] as [PropertyList?] {
            fired.track { _ = store.get() }
            backend.write(value, forKey: "number")
            suite.waitForHandlers()
        }
        #expect(fired.withLock { $0 } == 3)
    }

    /// Checks a detail of the Observation framework that has no API: it retains the key paths that
    /// it tracks.
    @Test func theFrameworkRetainsTheKeyPathOfATrackedSlot() {
        let slot = Slot("number", Conversion<Int>.codable)
        #expect(!slot.noteAccess())
        let fired = Guarded(0)
        for count in 1...3 {
            fired.track { #expect(slot.noteAccess()) }
            slot.reportChange()
            #expect(fired.withLock { $0 } == count)
            #expect(!slot.noteAccess())
        }
    }
}
