import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// Reads while other threads write all the time.
struct BusySuiteTests {
    private let number = DefaultKey("number", default: 0)

    /// Whenever a value is read, another thread commits to the suite, if there is one.
    private final class BusyBackend: BackendDecorator {
        let base: any DefaultsBackend
        let suite = Guarded<DefaultsSuite?>(nil)
        let reads = Guarded(0)
        init(_ base: any DefaultsBackend) { self.base = base }
        func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
            let value = try base.value(forKey: key)
            if key == "number", let suite = suite.withLock({ $0 }) {
                let n = reads.withLock { n in
                    n += 1
                    return n
                }
                if n < 500 {
                    onThreads(1) { _ in try? suite.update { $0["other"] = .integer(Int64(n)) } }
                }
            }
            return value
        }
    }

    @Test func aReadEndsWhileOthersWrite() throws {
        let backend = BusyBackend(SharedBackend(["number": 1]))
        let suite = DefaultsSuite(backend: backend)
        let other = DefaultKey("other", default: 0)
        let token = suite.observe(other) { _ in }
        backend.suite.withLock { $0 = suite }
        #expect(suite[number] == 1)
        #expect(backend.reads.withLock { $0 } < 50)
        backend.suite.withLock { $0 = nil }
        token.cancel()
    }

    /// Whenever one is decoded, another thread commits another one.
    private struct Restless: DefaultConvertible, Equatable {
        static let key = "restless"
        static let onDecoding = Guarded<(@Sendable () -> Void)?>(nil)
        var n: Int
        init(_ n: Int) { self.n = n }
        init?(_ object: Any) {
            guard let n = object as? Int else { return nil }
            self.n = n
            Self.onDecoding.withLock { $0 }?()
        }
        func serialize() -> Any { n }
    }

    @Test(.serialized, arguments: [false, true]) func severalKeysAreReadWhileOthersWrite(isLayered: Bool) throws {
        let suite = DefaultsSuite.inMemory(["restless": 1, "number": 5])
        if isLayered { suite.layers = [DefaultsSuite.Layer("admin") { $0 == "number" ? 7 : nil }, .stored] }
        let rounds = Guarded(1)
        Restless.onDecoding.withLock { onDecoding in
            onDecoding = { [suite] in
                let n = rounds.withLock { n in
                    n += 1
                    return n
                }
                guard n < 3_000 else { return }
                onThreads(1) { _ in try? suite.update { $0["restless"] = .integer(Int64(n)) } }
            }
        }
        defer { Restless.onDecoding.withLock { $0 = nil } }
        let (number, restless) = try suite.read(number, DefaultKey("restless", default: Restless(0)))
        #expect(number == (isLayered ? 7 : 5) && restless.n > 1)
        #expect((10..<100).contains(rounds.withLock { $0 }))
    }
}
