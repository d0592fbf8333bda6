public import TypedDefaults

/// The published name of a `UserDefault` whose value may be missing.
public typealias OptionalUserDefault<Wrapped: Sendable> = UserDefault<Wrapped?>
/// The published name of a `UserDefault` whose value may be missing.
public typealias UserDefaultOptional<Wrapped: Sendable> = UserDefault<Wrapped?>
