import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

extension DefaultKey<Int> {
    fileprivate static let volume = DefaultKey("volume", default: 1)
}

struct BackendDoublesTests {
    @Test func callsAreRecordedInOrder() throws {
        let backend = RecordingBackend()
        let suite = DefaultsSuite(backend: backend)
        #expect(suite[.volume] == 1)
        #expect(backend.calls == [.value(key: "volume")])
        backend.removeAllCalls()
        suite[.volume] = 7
        #expect(backend.calls == [.beginWrite, .value(key: "volume"), .commit(["volume": 7]), .endWrite])
        backend.removeAllCalls()
        suite.remove(.volume)
        try suite.synchronize()
        #expect(backend.calls.contains(.commit(["volume": nil])))
        #expect(backend.calls.last == .synchronize)
        #expect(try suite.keys() == [])
        #expect(backend.calls.last == .keys)
    }

    @Test func oneCallFails() throws {
        let suite = DefaultsSuite(backend: FailingBackend(.commit, at: 2))
        suite[.volume] = 7
        let failures = Failures(of: suite)
        suite[.volume] = 8
        #expect(failures.kinds == [.unavailable])
        #expect(suite[.volume] == 7)
        suite[.volume] = 9
        #expect(suite[.volume] == 9)
        #expect(failures.kinds == [.unavailable])
    }

    @Test(arguments: [BackendCall.Name.value, .keys, .beginWrite, .commit, .synchronize])
    func eachCallCanFail(name: BackendCall.Name) throws {
        let error = DefaultsError(.timedOut, reason: "test")
        let suite = DefaultsSuite(backend: FailingBackend(name, with: error))
        let failures = Failures(of: suite)
        func use(_ body: () throws -> Void) -> Bool { fails(with: .timedOut, body) }
        switch name {
        case .value: #expect(use { _ = try PersistentStore<CameraConfig>(in: suite).load() })
        case .keys: #expect(use { _ = try suite.keys() })
        case .synchronize: #expect(use { try suite.synchronize() })
        default: #expect(use { try suite.update(.volume) { $0 += 1 } })
        }
        #expect(failures.kinds == [])
    }

    @Test func aClosureChoosesTheCallsThatFail() {
        let suite = DefaultsSuite(
            backend: FailingBackend { call in
                call == .commit(["volume": 8]) ? DefaultsError(.refused, reason: "eight") : nil
            })
        let failures = Failures(of: suite)
        for number in 7...9 { suite[.volume] = number }
        #expect(failures.kinds == [.refused])
        #expect(suite[.volume] == 9)
    }

    @Test func aSlowBackendTakesItsTime() {
        let suite = DefaultsSuite(backend: SlowBackend(delay: .milliseconds(20), of: [.commit]))
        let clock = ContinuousClock()
        let fast = clock.measure { #expect(suite[.volume] == 1) }
        let slow = clock.measure { suite[.volume] = 2 }
        #expect(slow >= .milliseconds(20))
        #expect(fast < slow)
        #expect(suite[.volume] == 2)
    }

    @Test func anUnavailableBackendBecomesAvailable() throws {
        let backend = UnavailableBackend()
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let values = Guarded<[Int?]>([])
        let token = suite.observe(.volume) { change in values.withLock { $0.append(change.newValue) } }
        suite[.volume] = 7
        #expect(suite[.volume] == 1)
        #expect(Set(failures.kinds) == [.unavailable])
        #expect(fails(with: .unavailable) { _ = try suite.read(.volume) })
        backend.isAvailable = true
        #expect(suite[.volume] == 1)
        suite[.volume] = 7
        #expect(suite[.volume] == 7)
        backend.isAvailable = false
        #expect(suite[.volume] == 1)
        backend.isAvailable = true
        #expect(suite[.volume] == 7)
        #expect(values.withLock { $0 } == [7])
        token.cancel()
    }

    @Test func observersHearWhatIsStoredOnceABackendIsAvailable() throws {
        let shared = SharedBackend(["volume": 3])
        let backend = UnavailableBackend(base: shared)
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let values = Guarded<[Int?]>([])
        let token = suite.observe(.volume) { change in values.withLock { $0.append(change.newValue) } }
        backend.isAvailable = true
        suite.waitForHandlers()
        #expect(values.withLock { $0 } == [3])
        #expect(Set(failures.kinds).isSubset(of: [.unavailable]))
        token.cancel()
    }

    @Test func anotherProcessWrites() throws {
        let backend = SharedBackend(["volume": 3, "other": true])
        let suite = DefaultsSuite(backend: backend)
        let changes = Guarded<[DefaultChange<Int>]>([])
        let token = suite.observe(.volume) { change in changes.withLock { $0.append(change) } }
        #expect(suite[.volume] == 3)
        try backend.updateFromOutside { contents in
            contents[.volume] = 7
            contents["other"] = nil
        }
        #expect(suite[.volume] == 7)
        #expect(try suite.keys() == ["volume"])
        try backend.updateFromOutside { $0[.volume] = 7 }
        suite.waitForHandlers()
        let heard = changes.withLock { $0 }
        #expect(heard.map(\.newValue) == [7])
        #expect(heard.map(\.oldValue) == [3])
        #expect(heard.map(\.origin) == [.external])
        suite[.volume] = 8
        try backend.updateFromOutside { contents in #expect(contents[.volume] == 8) }
        suite.waitForHandlers()
        #expect(changes.withLock { $0 }.map(\.origin) == [.external, .local])
        token.cancel()
    }

    @Test func anUpdateFromOutsideThatThrowsChangesNothing() {
        struct Stop: Error {}
        let backend = SharedBackend(["volume": 3])
        let suite = DefaultsSuite(backend: backend)
        #expect(throws: Stop.self) {
            try backend.updateFromOutside { contents in
                contents[.volume] = 7
                throw Stop()
            }
        }
        #expect(suite[.volume] == 3)
    }

    @Test func aSlowCallDelaysNoOther() {
        let suite = DefaultsSuite(backend: SlowBackend(delay: .seconds(5), of: [.keys]))
        let time = ContinuousClock().measure {
            suite[DefaultKey("volume", default: 1)] = 2
            #expect(suite[DefaultKey("volume", default: 1)] == 2)
        }
        #expect(time < .seconds(4))
    }
}
