public import TypedDefaults

/// A call of a suite to its backend.
public enum BackendCall: Sendable, Equatable {
    /// `value(forKey:)`, a read of a key.
    case value(key: String)
    /// `keys()`.
    case keys
    /// `write(_:)`, before the backend is called.
    case beginWrite
    /// The end of the body of `write(_:)`, which cannot fail.
    case endWrite
    /// `commit(_:)`, with the new values by key. A `nil` value removes the key. Empty if the suite
    /// only asks whether what it has read is unchanged.
    case commit([String: PropertyList?])
    /// `changes(since:)`.
    case changes(generation: UInt64)
    /// `synchronize()`, a flush.
    case synchronize
    /// `watch(_:_:)`, which starts or stops reports of changes and cannot fail.
    case watch(WatchedSubject, isOn: Bool)
}

extension BackendCall {
    /// The name of a call, without what is passed to it.
    public enum Name: Sendable, Hashable, CaseIterable {
        /// `value(forKey:)`, a read of a key.
        case value
        /// `keys()`.
        case keys
        /// `write(_:)`, before the backend is called.
        case beginWrite
        /// The end of the body of `write(_:)`.
        case endWrite
        /// `commit(_:)`.
        case commit
        /// `changes(since:)`.
        case changes
        /// `synchronize()`, a flush.
        case synchronize
        /// `watch(_:_:)`.
        case watch
    }

    /// The name of the call.
    public var name: Name {
        switch self {
        case .value: .value
        case .keys: .keys
        case .beginWrite: .beginWrite
        case .endWrite: .endWrite
        case .commit: .commit
        case .changes: .changes
        case .synchronize: .synchronize
        case .watch: .watch
        }
    }
}
