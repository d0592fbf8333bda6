public import TypedDefaults

/// A call of a suite to its backend.
public enum BackendCall: Sendable, Equatable {
    /// `value(forKey:)`, a read of a key.
    case value(key: String)
    /// `keys()`.
    case keys
    /// `beginWrite()`.
    case beginWrite
    /// `endWrite()`, which cannot fail.
    case endWrite
    /// `commit(_:)`, with the new values by key. A `nil` value removes the key. Empty if the suite
    /// only asks whether what it has read is unchanged.
    case commit([String: PropertyList?])
    /// `changes(since:)`.
    case changes(generation: UInt64)
    /// `synchronize()`, a flush.
    case synchronize
    /// `follow(_:isOn:)`, which starts or stops reports of changes and cannot fail.
    case follow(key: String?, isOn: Bool)
}

extension BackendCall {
    /// The name of a call, without what is passed to it.
    public enum Name: Sendable, Hashable, CaseIterable {
        /// `value(forKey:)`, a read of a key.
        case value
        /// `keys()`.
        case keys
        /// `beginWrite()`.
        case beginWrite
        /// `endWrite()`.
        case endWrite
        /// `commit(_:)`.
        case commit
        /// `changes(since:)`.
        case changes
        /// `synchronize()`, a flush.
        case synchronize
        /// `follow(_:isOn:)`.
        case follow
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
        case .follow: .follow
        }
    }
}
