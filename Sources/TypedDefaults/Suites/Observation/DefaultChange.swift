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
public struct DefaultChange<Value: Sendable>: Sendable {
    /// The value before; `nil` if none was stored, if it could not be read, or in the initial call.
    public let oldValue: Value?
    /// The value after; `nil` if it was removed, or if it cannot be read.
    public let newValue: Value?
    /// What happened.
    public let kind: ChangeKind
    /// Who changed the value.
    public let origin: ChangeOrigin
    /// For descriptions; `nil` if the store has no key.
    let name: SettingName?

    /// Creates a change, for a store of your own that implements
    /// ``DefaultStoreType/observe(initial:_:)``.
    public init(oldValue: Value?, newValue: Value?, kind: ChangeKind, origin: ChangeOrigin) {
        self.init(oldValue: oldValue, newValue: newValue, kind: kind, origin: origin, name: nil)
    }

    init(oldValue: Value?, newValue: Value?, kind: ChangeKind, origin: ChangeOrigin, name: SettingName?) {
        (self.oldValue, self.newValue, self.kind, self.origin) = (oldValue, newValue, kind, origin)
        self.name = name
    }

    /// Returns both changes combined, for a consumer that missed the first one.
    func merged(with later: DefaultChange) -> DefaultChange {
        DefaultChange(
            oldValue: oldValue, newValue: later.newValue, kind: later.kind,
            origin: origin == .external ? .external : later.origin, name: later.name)
    }
}

extension DefaultChange where Value: DefaultConfig {
    /// The value after the change: the stored one, or the default if none is stored or it cannot be
    /// read.
    public var value: Value { newValue ?? Value.defaultInstance }
}
