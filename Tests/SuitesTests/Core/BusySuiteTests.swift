import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// Reads while other threads write all the time.
struct BusySuiteTests {
    private let number = DefaultKey("number", default: 0)

    /// Commits on another thread whenever it reads a value.
    private final class BusyBackend: BackendDecorator {
        let base: any DefaultsBackend
        let suite = Guarded<DefaultsSuite?>(nil)
        let isBusy = Guarded(false)
        let reads = Guarded(0)
        init(_ base: any DefaultsBackend) { self.base = base }
        func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
            let value = try base.value(forKey: key)
            if key == "number", isBusy.withLock({ $0 }) {
                let n = reads.withLock { n in
                    n += 1
                    return n
                }
                if n < 500, let suite = suite.withLock({ $0 }) {
                    onThreads(1) { _ in try? suite.update { $0["other"] = .integer(Int64(n)) } }
                }
            }
            return value
        }
    }

    @Test func aReadEndsWhileOthersWrite() throws {
        let backend = BusyBackend(SharedBackend(["number": 1]))
        let suite = DefaultsSuite(backend: backend)
        backend.suite.withLock { $0 = suite }
        let other = DefaultKey("other", default: 0)
        let token = suite.observe(other) { _ in }
        backend.isBusy.withLock { $0 = true }
        #expect(suite[number] == 1)
        #expect(backend.reads.withLock { $0 } < 50)
        backend.isBusy.withLock { $0 = false }
        backend.suite.withLock { $0 = nil }
        token.cancel()
    }

    struct Restless: DefaultConvertible, Equatable {
        static let key = "restless"
        static let bump = Guarded<(@Sendable () -> Void)?>(nil)
        var n: Int
        init(_ n: Int) { self.n = n }
        init?(_ object: Any) {
            guard let n = object as? Int else { return nil }
            self.n = n
            Self.bump.withLock { $0 }?()
        }
        func serialize() -> Any { n }
    }

    @Test(.serialized, arguments: [false, true]) func severalKeysAreReadWhileOthersWrite(isLayered: Bool) throws {
        let suite = DefaultsSuite.inMemory(["restless": 1, "number": 5])
        if isLayered { suite.layers = [DefaultsSuite.Layer("admin") { $0 == "number" ? 7 : nil }, .stored] }
        let rounds = Guarded(1)
        Restless.bump.withLock { bump in
            bump = { [suite] in
                let n = rounds.withLock { n in
                    n += 1
                    return n
                }
                guard n < 3_000 else { return }
                onThreads(1) { _ in try? suite.update { $0["restless"] = .integer(Int64(n)) } }
            }
        }
        defer { Restless.bump.withLock { $0 = nil } }
        let (number, restless) = try suite.read(number, DefaultKey("restless", default: Restless(0)))
        #expect(number == (isLayered ? 7 : 5) && restless.n > 1)
        #expect((10..<100).contains(rounds.withLock { $0 }))
    }
}
