import TypedDefaults

/// Every way to a store of `Value`.
enum StoreForm: String, CaseIterable, Sendable {
    case persistent, ofKey, inMemory, boxedPersistent, boxedInMemory, boxedTwice, foreign

    /// Those whose `update` keeps other writers out: a foreign store of three methods cannot.
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
        case .foreign: ForeignStore<Value>()
        }
    }
}

/// A store with the three methods that a conformance must write, and nothing else.
final class ForeignStore<Default: Sendable>: DefaultStoreType {
    private let value = Guarded<Default?>(nil)
    func get() -> Default? { value.withLock { $0 } }
    func set(_ value: Default) { self.value.withLock { $0 = value } }
    func remove() { value.withLock { $0 = nil } }
}
