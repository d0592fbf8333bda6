import SettingsFile
public import TypedDefaults

/// A call to a store.
public enum StoreCall<Value: Sendable>: Sendable {
    /// `get()`.
    case get
    /// `set(_:)` with the value.
    case set(Value)
    /// `remove()`.
    case remove
    /// `removeStored()`.
    case removeStored
    /// `load()`.
    case load
    /// `save(_:)` with the value.
    case save(Value)
    /// `updateStored(_:)`, with the new value; `nil` if it removed the value or failed.
    case update(Value?)
    /// `observe(initial:_:)`.
    case observe
}

extension StoreCall: Equatable where Value: Equatable {}

/// A store that records each call, in order.
///
/// ```swift
/// let store = RecordingStore(InMemoryStore(CameraConfig()))
/// CameraModel(config: AnyStore(store)).useLargePictures()
/// #expect(store.calls == [.update(CameraConfig(size: .large))])
/// ```
///
/// Copies of a store share its calls.
public struct RecordingStore<Base: DefaultStoreType>: DefaultStoreType {
    private let base: Base
    private let recordedCalls = Locked<[StoreCall<Base.Default>]>([])

    /// Creates a store that passes each call to another one.
    public init(_ base: Base) { self.base = base }

    /// The calls so far, oldest first.
    public var calls: [StoreCall<Base.Default>] { recordedCalls.withLock { $0 } }

    /// Forgets the calls so far.
    public func removeAllCalls() { recordedCalls.withLock { $0 = [] } }

    private func record(_ call: StoreCall<Base.Default>) { recordedCalls.withLock { $0.append(call) } }

    /// Records the call and returns the value of the base; `nil` if it is missing, unreadable or
    /// unavailable.
    public func get() -> Base.Default? {
        record(.get)
        return base.get()
    }

    /// Records the call and stores the value in the base.
    public func set(_ value: Base.Default) {
        record(.set(value))
        base.set(value)
    }

    /// Records the call and removes the value from the base.
    public func remove() {
        record(.remove)
        base.remove()
    }

    /// Records the call and removes the value from the base, or throws.
    public func removeStored() throws {
        record(.removeStored)
        try base.removeStored()
    }

    /// Records the call and loads from the base.
    public func load() throws -> Base.Default? {
        record(.load)
        return try base.load()
    }

    /// Records the call and saves to the base.
    public func save(_ value: Base.Default) throws {
        record(.save(value))
        try base.save(value)
    }

    /// Updates the base, and then records the call.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Base.Default?) throws -> Result) throws -> Result {
        var new: Base.Default?
        do {
            let result = try base.updateStored { value in
                let result = try body(&value)
                new = value
                return result
            }
            record(.update(new))
            return result
        } catch {
            record(.update(nil))
            throw error
        }
    }

    /// Records the call and observes the base.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Base.Default>) -> Void
    ) -> ObservationToken {
        record(.observe)
        return base.observe(initial: initial, handler)
    }
}
