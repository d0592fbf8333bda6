/// A value of a type that is safe to share but is not `Sendable` in every SDK.
///
/// `nonisolated(unsafe)` would be a warning where the type is `Sendable`.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
