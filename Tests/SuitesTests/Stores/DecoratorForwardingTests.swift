import TestSupport
import Testing
import TypedDefaults

struct DecoratorForwardingTests {
    /// Changes nothing but its name.
    private struct PassingStore<Base: DefaultStoreType>: DefaultStoreDecorator {
        typealias Default = Base.Default
        let base: Base
    }

    /// Refuses negative numbers in both directions.
    private struct PositiveStore<Base: DefaultStoreType<Int>>: DefaultStoreDecorator {
        struct Negative: Error {}
        typealias Default = Int
        let base: Base
        func value(from stored: Int) throws -> Int { try checked(stored) }
        func stored(from value: Int) throws -> Int { try checked(value) }
        private func checked(_ value: Int) throws -> Int {
            guard value >= 0 else { throw Negative() }
            return value
        }
    }

    @Test func theHandlerOfTheSuiteHearsWhatADecoratorRefuses() {
        let suite = DefaultsSuite.inMemory(["number": 1])
        let failures = Failures(of: suite)
        let key = DefaultKey("number", default: 0)
        // Two layers, and a box between them and the base.
        let store = PassingStore(base: PositiveStore(base: AnyStore(UserDefault(key, in: suite).store)))
        store.set(-1)
        #expect(failures.kinds == [.refused])
        #expect(suite[key] == 1, "nothing is stored")
        suite[key] = -5
        #expect(store.get() == nil)
        #expect(failures.kinds == [.refused, .unreadable])
        #expect(failures.all.last?.key == "number")
    }

    @Test func anUnreadableValueInMemoryHasNoKey() {
        let store = PositiveStore(base: InMemoryStore(-1))
        let error = #expect(throws: DefaultsError.self) { try store.load() }
        #expect(error?.kind == .unreadable && error?.key == nil)
        #expect(store.get() == nil)
    }

    @Test func anUnreadablePartNamesTheKeyOfTheWhole() {
        struct Config: DefaultConfig {
            static let key = "Config"
            var number = -1
        }
        let suite = DefaultsSuite.inMemory(["Config": ["number": -1]])
        let store = PositiveStore(base: PersistentStore<Config>(in: suite).map(\.number))
        let error = #expect(throws: DefaultsError.self) { try store.load() }
        #expect(error?.key == "Config")
    }
}
