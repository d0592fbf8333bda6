/// A value of a type that is safe to share but is not `Sendable` in every SDK.
///
/// A mark at each property would cause a warning where the type is `Sendable`.
package struct Unchecked<Value>: @unchecked Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}
