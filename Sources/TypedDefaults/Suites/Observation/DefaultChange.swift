/// What happened to a value.
public enum ChangeKind: Hashable, Sendable {
    /// The first call of an observation, which reports the present value. Nothing happened to it.
    case initial
    /// A value was stored.
    case set
    /// The stored value was removed.
    case removed
}

/// Who changed a value.
public enum ChangeOrigin: Hashable, Sendable {
    /// This process, through a suite of this library.
    case local
    /// Another process, or code in this process that writes to the same place without a suite.
    /// Several changes that come close together are reported as one.
    case external
}

/// A change of one value.
///
/// The values of a change in a suite are decoded when you first ask for them. Ask for the new value
/// in the handler: if it cannot be read, the failure handler of the suite receives the error after
/// the observers have returned. If you ask for such a value later, it is `nil` and no handler is
/// called.
public struct DefaultChange<Value: Sendable>: Sendable {
    // The types of the content are not generic, because generic code that is not specialized is
    // slow.
    private var old: ChangeContent
    private var new: ChangeContent
    /// A box of what takes the place of missing values.
    private var other: AnyBox?
    /// What happened.
    public let kind: ChangeKind
    /// Who changed the value.
    public let origin: ChangeOrigin
    /// For descriptions; `nil` if the store has no key.
    let name: SettingName?

    /// The value before; `nil` if none was stored, if it could not be read, or in the initial call.
    public var oldValue: Value? { value(of: old) }
    /// The value after; `nil` if it was removed, or if it cannot be read.
    public var newValue: Value? { value(of: new) }

    private func value(of content: ChangeContent) -> Value? {
        guard let box = content.box ?? other else { return nil }
        // Safe: all boxes of a change are of its type.
        return unsafeDowncast(box, to: Box<Value>.self).value
    }

    /// Creates a change, for a store of your own that implements
    /// ``DefaultStoreType/observe(initial:_:)``.
    public init(oldValue: Value?, newValue: Value?, kind: ChangeKind, origin: ChangeOrigin) {
        self.init(oldValue: oldValue, newValue: newValue, kind: kind, origin: origin, name: nil)
    }

    init(oldValue: Value?, newValue: Value?, kind: ChangeKind, origin: ChangeOrigin, name: SettingName?) {
        func content(_ value: Value?) -> ChangeContent { value.map { .box(Box($0)) } ?? .none }
        (old, new) = (content(oldValue), content(newValue))
        (self.kind, self.origin, self.name) = (kind, origin, name)
    }

    /// - Parameter change: A change of a slot with this type of values.
    init(_ change: SlotChange, name: SettingName) {
        (old, new, kind, origin) = (change.old, change.new, change.kind, change.origin)
        self.name = name
    }

    private init(_ earlier: DefaultChange, mergedWith later: DefaultChange) {
        (old, new, kind, name, other) = (earlier.old, later.new, later.kind, later.name, later.other)
        origin = earlier.origin == .external ? .external : later.origin
    }

    /// Returns the change with decoded values, for a consumer that takes it after the delivery, so
    /// that a failure is reported and the consumer does not have to decode.
    func decoded() -> DefaultChange {
        var change = self
        (change.old, change.new) = (old.decoded, new.decoded)
        return change
    }

    /// Returns both changes combined, for a consumer that missed the first one.
    func merged(with later: DefaultChange) -> DefaultChange { DefaultChange(self, mergedWith: later) }

    /// Returns the change with another value in place of missing ones.
    func filled(with other: Value) -> DefaultChange {
        var change = self
        change.other = Box(other)
        return change
    }
}

extension DefaultChange where Value: DefaultConfig {
    /// The value after the change: the stored one, or the default if none is stored or it cannot be
    /// read.
    public var value: Value { newValue ?? Value.defaultInstance }
}
