/// A value that is safe to share, of a type that is not `Sendable`, or not in every SDK.
///
/// A mark at each property would cause a warning where the type is `Sendable`. Each use says why it
/// is safe.
package struct Unchecked<Value>: @unchecked Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}
