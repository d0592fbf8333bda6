import TestSupport
import Testing
import TypedDefaults

struct DecoratorForwardingTests {
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
        // Two layers, and a box between them.
        let store = Decorated(base: AnyStore(PositiveStore(base: UserDefault(key, in: suite).store)))
        store.set(-1)
        #expect(failures.kinds == [.refused])
        #expect(suite[key] == 1, "nothing is stored")
        suite[key] = -5
        #expect(store.get() == nil)
        #expect(failures.kinds == [.refused, .unreadable])
        #expect(failures.all.last?.key == "number")
    }
}
