/// What happened to a value.
public enum ChangeKind: Hashable, Sendable { case set, removed }

/// Who changed a value.
public enum ChangeOrigin: Hashable, Sendable {
    case thisProcess
    /// What another process, or code that goes around the suite, changed in several steps between two looks comes as one change.
    case another
}

/// A change of one value, as its observers hear of it.
public struct DefaultChange<Value: Sendable>: Sendable {
    /// The value before; nil if nothing was stored, if it could not be read, or if this is the initial call.
    public let oldValue: Value?
    /// The value after; nil if it was removed, or if it cannot be read, which the failure handler hears.
    public let newValue: Value?
    public let kind: ChangeKind
    public let origin: ChangeOrigin
    /// For descriptions; `nil` if the store has no key.
    var name: SettingName?

    /// Returns both changes as one, for a consumer that missed the first.
    func merged(with later: DefaultChange) -> DefaultChange {
        DefaultChange(
            oldValue: oldValue, newValue: later.newValue, kind: later.kind,
            origin: origin == .another ? .another : later.origin, name: later.name)
    }
}

/// How an observation begins.
public struct ObservationOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The handler is called with the present value first.
    public static let initial = ObservationOptions(rawValue: 1)
}
