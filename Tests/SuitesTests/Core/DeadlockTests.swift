import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests foreign code that would deadlock if the library called it under a lock. It runs in a
/// process of its own, which an alarm kills after a minute, so that a deadlock fails only the test.
@Suite(.ownThreads) struct DeadlockTests {
    #if os(macOS) || os(Linux)
        @Test func theDeallocatorsOfReplacedDataMayUseTheSuite() async {
            await #expect(processExitsWith: .success) {
                alarm(60)
                let suite = DefaultsSuite.inMemory()
                let ended = Guarded(0)
                func data() -> Data {
                    let bytes = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 1)
                    bytes.initializeMemory(as: UInt8.self, repeating: 7, count: 64)
                    return Data(
                        bytesNoCopy: bytes, count: 64,
                        deallocator: .custom { bytes, _ in
                            bytes.deallocate()
                            _ = suite[DefaultKey("other", default: 0)]
                            ended.withLock { $0 += 1 }
                        })
                }
                try suite.update { contents in
                    for key in ["a", "b", "c"] { contents[key] = .data(data()) }
                }
                try suite.update { contents in
                    for key in ["a", "b", "c"] { contents[key] = .data(Data()) }
                }
                #expect(ended.withLock { $0 } == 3)
            }
        }
    #endif
}

/// Tests suites that are created on several threads at the same time.
struct SharedSuiteTests {
    @Test func concurrentlyCreatedSuitesOfOneBackendAreEqual() {
        for _ in 0..<300 {
            let backend = TellingBackend()
            let suites = Guarded<[DefaultsSuite]>([])
            onThreads(4) { _ in
                let suite = DefaultsSuite(backend: backend)
                suites.withLock { $0.append(suite) }
                for _ in 0..<10 {
                    do {
                        try UserDefault(DefaultKey("count", default: 0), in: suite).store.updateStored {
                            $0 = ($0 ?? 0) + 1
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            let suite = suites.withLock { $0[0] }
            #expect(suite[DefaultKey("count", default: 0)] == 40)
            let failures = Failures(of: suite)
            backend.tell(.failed(DefaultsError(.refused, reason: "the backend itself")))
            #expect(failures.kinds == [.refused])
        }
    }
}
