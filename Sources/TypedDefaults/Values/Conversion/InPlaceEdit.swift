/// A value that is edited in place, such as in `store.value.zoom = 2`, and what was read.
///
/// The edit is an update that changes the top-level entries in which both differ. So it keeps what
/// another thread or process changes in other entries during the edit.
struct InPlaceEdit<Value: Sendable>: Sendable {
    var value: Value
    /// The form of what was read; `nil` if it has none.
    let before: PropertyList?
}

extension InPlaceEdit where Value: DefaultConfig {
    init(of value: Value) {
        let form = try? Self.form(of: value)
        // Other code may share the object.
        let copy = Value.self is AnyClass ? form.flatMap { Value($0.object) } : nil
        self.init(value: copy ?? value, before: form)
    }

    /// - Parameter new: The value after the edit.
    init(of old: Value, changedTo new: Value) { self.init(value: new, before: try? Self.form(of: old)) }

    private static func form(of value: Value) throws -> PropertyList? { try PropertyList(value.serialize()) }

    /// Whether the value was changed. Throws if it cannot be stored.
    var isChange: Bool { get throws { try Self.form(of: value) != before } }

    /// Makes the same change to another value.
    func apply(to current: inout Value) throws {
        let conversion = Conversion<Value>.convertible
        var new: Value?
        // The store refuses a value that breaks a rule.
        if let before, let after = try? conversion.encode(value), let now = try Self.form(of: current), now != before {
            new = try ChangeRule(conversion).merging(now, from: before, to: after).flatMap { Value($0.object) }
        }
        current = new ?? value
    }
}

/// What a change means beyond the value that it ends with.
enum ChangeIntent {
    case editing
    /// The value is stored even if it equals the one that is read in place of a missing one.
    case assigning
    /// The entries that change are no longer stored.
    case forgetting
}
