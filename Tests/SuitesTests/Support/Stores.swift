import TestSupport
import TypedDefaults

/// Every way to create a store of `Value`.
enum StoreForm: String, CaseIterable, Sendable {
    case persistent, ofKey, inMemory, boxedPersistent, boxedInMemory, boxedTwice, decorated, foreign, reporting

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
        case .decorated: Decorated(base: AnyStore<Value>.inMemory())
        case .foreign: ForeignStore<Value>()
        case .reporting: ReportingStore<Value>()
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

/// A store that also reports its changes: its observers are those of a store in memory, which gets
/// each value, too.
final class ReportingStore<Default: DefaultConvertible>: DefaultStoreType {
    private let value = Guarded<Default?>(nil)
    private let reports = InMemoryStore<Default>()

    func get() -> Default? { value.withLock { $0 } }
    func set(_ value: Default) { change(to: value) }
    func remove() { change(to: nil) }

    private func change(to new: Default?) {
        // One thread at a time. The observers are called after the update.
        try? reports.updateStored { reported in
            reported = new
            value.withLock { $0 = new }
        }
    }

    func observe(
        initial: Bool,
        _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken { reports.observe(initial: initial, handler) }
}

/// A decorator that adds nothing.
struct Decorated<Default: Sendable>: DefaultStoreDecorator { let base: AnyStore<Default> }

/// A store of a program, which forwards.
struct Forwarding<Default: Sendable>: DefaultStoreType {
    let base: AnyStore<Default>
    func get() -> Default? { base.get() }
    func set(_ value: Default) { base.set(value) }
    func remove() { base.remove() }
    @discardableResult
    func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        try base.updateStored(body)
    }
}
