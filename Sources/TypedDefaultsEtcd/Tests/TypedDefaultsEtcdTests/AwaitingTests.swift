import NIOConcurrencyHelpers
import Testing
import TypedDefaults
import TypedDefaultsEtcd
import TypedDefaultsTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

private struct Config: DefaultConfig, Equatable {
    static let key = "Config"
    var size = 1
}

@Suite struct AwaitingTests {
    let suite = DefaultsSuite.inMemory()
    let key = DefaultKey("count", default: 0)

    @Test func writesAreStored() async throws {
        try await suite.awaiting.update { $0["count"] = 1 }
        #expect(suite[key] == 1)
        #expect(
            try await UserDefault(key, in: suite).awaiting.update {
                $0 += 1
                return $0
            } == 2)
        let store = UserDefault(key, in: suite).store
        try await store.awaiting.save(5)
        try await store.awaiting.updateStored { $0 = ($0 ?? 0) + 1 }
        try await store.awaiting.update(default: 0) { $0 += 1 }
        #expect(store.get() == 7)
        let config = PersistentStore<Config>(in: suite)
        try await config.awaiting.update { $0.size = 3 }
        #expect(config.get() == Config(size: 3))
    }

    @Test func errorsArePassedOn() async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await suite.awaiting.update { _ in throw Stop() } }
        await #expect(throws: DefaultsError.self) {
            try await UserDefault(key, in: DefaultsSuite(backend: UnavailableBackend())).store.awaiting.save(1)
        }
    }

    @Test func aCancelledTaskDoesNotBegin() async throws {
        let suite = suite
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await suite.awaiting.update { $0["count"] = 1 }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try suite.keys().isEmpty)
    }

    @Test func theStandInForTheStandardSuiteStays() async throws {
        let setting = UserDefault(key)
        try await DefaultsSuite.withStandard(suite) { try await setting.awaiting.update { $0 = 4 } }
        #expect(suite[key] == 4)
    }

    @MainActor @Test func aWriteDoesNotRunOnTheThreadOfTheMainActor() async throws {
        let main = currentThread()
        let other = try await suite.awaiting.update { contents in
            contents["count"] = 1
            return currentThread()
        }
        #expect(other != main)
        MainActor.assertIsolated()
    }
}

private func currentThread() -> pthread_t { pthread_self() }
