import TestSupport
import TypedDefaults

/// Every way to create a store of `Value`.
enum StoreForm: String, CaseIterable, Sendable {
    case persistent, ofKey, inMemory, boxedPersistent, boxedInMemory, boxedTwice, decorated, foreign

    /// The stores whose `update` excludes other writers. A foreign store with three methods cannot.
    static let exclusive = allCases.filter { $0 != .foreign }

    func make<Value: DefaultConvertible & Codable>(
        _ example: Value, in suite: DefaultsSuite
    ) -> any DefaultStoreType<Value> {
        switch self {
        case .persistent: PersistentStore<Value>(in: suite)
        case .ofKey: UserDefault(DefaultKey(Value.key, default: example), in: suite).store
        case .inMemory: InMemoryStore<Value>()
        case .boxedPersistent: AnyStore<Value>.persistent(in: suite)
        case .boxedInMemory: AnyStore<Value>.inMemory()
        case .boxedTwice: AnyStore(AnyStore(PersistentStore<Value>(in: suite)))
        case .decorated: PlainDecorator(base: InMemoryStore<Value>())
        case .foreign: ForeignStore<Value>()
        }
    }
}

/// A store that implements only the three required methods.
final class ForeignStore<Default: Sendable>: DefaultStoreType {
    private let value = Guarded<Default?>(nil)
    func get() -> Default? { value.withLock { $0 } }
    func set(_ value: Default) { self.value.withLock { $0 = value } }
    func remove() { value.withLock { $0 = nil } }
}

/// A decorator that adds nothing.
struct PlainDecorator<Default: DefaultConvertible & Codable>: DefaultStoreDecorator {
    let base: InMemoryStore<Default>
}
