import Foundation
import Testing
import TypedDefaults

/// Runs under ThreadSanitizer with `Scripts/thread-sanitizer`.
struct ConcurrencyTests {
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
