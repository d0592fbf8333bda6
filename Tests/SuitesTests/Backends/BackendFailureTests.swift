import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Tests that a failure of a backend leaves the suite usable.
struct BackendFailureTests {
    /// A write that has begun must end, or all other processes wait.
    @Test func aWriteEndsIfItCannotReadWhatAnotherProcessWrote() throws {
        let base = SpyBackend()
        let (isFailing, writes) = (Guarded(false), Guarded(0))
        let suite = DefaultsSuite(
            backend: FailingBackend(base: base) { call in
                if call.name == .beginWrite { writes.withLock { $0 += 1 } }
                if call.name == .endWrite { writes.withLock { $0 -= 1 } }
                guard call.name == .changes, isFailing.withLock({ $0 }) else { return nil }
                return DefaultsError(.unavailable, reason: "this call fails in a test")
            })
        let store = UserDefault(DefaultKey("number", default: 0), in: suite).store
        try store.save(1)
        base.write(2, forKey: "number")
        isFailing.withLock { $0 = true }
        #expect(fails(with: .unavailable) { try store.save(3) })
        #expect(writes.withLock { $0 } == 0)
        #expect(base.contents == ["number": 2])
        isFailing.withLock { $0 = false }
        try store.save(4)
        #expect(writes.withLock { $0 } == 0)
        #expect(base.contents == ["number": 4])
    }

    /// Another program registers a value that counts while none is stored.
    @Test(arguments: [true, false]) func aBackendOfTheProgramSaysWhatIsRegistered(hasGenerations: Bool) throws {
        final class RegisteredBackend: BackendDecorator {
            let base: any DefaultsBackend
            init(_ base: any DefaultsBackend) { self.base = base }
            func value(forKey key: String) throws(DefaultsError) -> PropertyList? { try base.value(forKey: key) ?? 7 }
            func layer(of key: String) throws(DefaultsError) -> BackendLayer {
                try base.value(forKey: key) == nil ? .registered : .stored
            }
        }
        let suite = DefaultsSuite(backend: RegisteredBackend(SpyBackend(hasGenerations: hasGenerations)))
        let setting = UserDefault(DefaultKey("number", default: 0), in: suite)
        let heard = Heard { note in setting.observe { note($0.newValue) } }
        #expect(setting.value == 7 && !setting.isSet && setting.source == .defaultValue)
        #expect(try suite.contents().isEmpty)
        // An equal value is stored, and changes nothing for readers.
        setting.value = 7
        #expect(setting.value == 7 && setting.isSet && setting.source == .stored)
        #expect(try suite.contents() == ["number": 7])
        setting.value = 3
        setting.reset()
        #expect(setting.value == 7 && !setting.isSet && setting.source == .defaultValue)
        #expect(try suite.contents().isEmpty)
        #expect(heard.all == [3, 7])
    }
}
