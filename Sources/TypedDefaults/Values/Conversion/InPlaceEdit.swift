/// Converts between the values of a type and their stored forms.
protocol FormCoding: Sendable {
    associatedtype Value: Sendable
    /// Returns the form of a value; `nil` for an optional without one.
    func form(of value: Value) throws -> PropertyList?
    func value(ofForm form: PropertyList) throws -> Value?
    /// Whether the values are objects, which an edit changes themselves.
    var isOfObjects: Bool { get }
}

/// A value that is edited in place, such as in `store.value.zoom = 2`, and what it was before.
///
/// Another thread may change the stored value during the edit. The edit then changes only the parts
/// in which both of its values differ, at every depth. If the parts of a property do not fit
/// together, such as two cases of an enum, it replaces the property, or else the whole value.
struct InPlaceEdit<Coding: FormCoding>: Sendable {
    var value: Coding.Value
    private let coding: Coding
    private let old: Coding.Value
    /// The form of an object as it was read.
    private let oldForm: PropertyList?

    init(_ old: Coding.Value, _ coding: Coding) {
        (self.old, self.coding, value) = (old, coding, old)
        oldForm = coding.isOfObjects ? (try? coding.form(of: old)) ?? nil : nil
        if let oldForm, let copy = try? coding.value(ofForm: oldForm) { value = copy }
    }

    init(from old: Coding.Value, to new: Coding.Value, _ coding: Coding) {
        (self.old, self.coding, value, oldForm) = (old, coding, new, nil)
    }

    /// The forms before and after the edit.
    private var forms: (before: PropertyList?, after: PropertyList?) {
        get throws { (try oldForm ?? coding.form(of: old), try coding.form(of: value)) }
    }

    var isChange: Bool {
        get throws {
            let (before, after) = try forms
            return before != after
        }
    }

    /// Applies the edit to the value that an update begins with.
    ///
    /// - Returns: False if the edit changes nothing.
    @discardableResult
    func apply(_ update: ((inout Coding.Value) throws -> Void) throws -> Void) throws -> Bool {
        let (before, after) = try forms
        guard before != after else { return false }
        try update { current in
            var merged: Coding.Value?
            if let before, var after, let form = try coding.form(of: current), form != before {
                // Decoding may change a value, such as a name to lower case.
                if let value = try? coding.value(ofForm: after) { after = try coding.form(of: value) ?? after }
                merged =
                    merging(form, from: before, to: after) { _ in true }
                    // Each property alone, because one of them may not fit.
                    ?? merging(form, from: before, to: after) { key in
                        merging(form, from: before, to: after) { $0 == key } != nil
                    }
            }
            current = merged ?? value
        }
        return true
    }

    /// Returns the current value with the edit; `nil` if it does not have both changes.
    ///
    /// - Parameter isMerged: Returns whether only the parts of a property that differ are replaced.
    private func merging(
        _ current: PropertyList, from before: PropertyList, to after: PropertyList, where isMerged: (String) -> Bool
    ) -> Coding.Value? {
        let merged = current.merging(from: before, to: after, where: isMerged)
        guard let value = try? coding.value(ofForm: merged), (try? coding.form(of: value)) == merged else { return nil }
        return value
    }
}
