import SettingsFile

extension SuiteContents {
    /// A value that was written as one type. What it stores is computed at the commit, so that
    /// several edits are one change.
    struct TypedWrite {
        let type: ConversionForm
        let rule: ChangeRule
        /// What the write changes: the value before the first write as this type.
        var old = SeenValue.missing
        /// What the write replaces without regard to it.
        var replaced: PropertyList?
        /// Whether the old value is stored, and not only the result of an earlier write.
        var isStored = true
        var before: PropertyList?
        var after: PropertyList?
        /// The last value, if it cannot be stored, and why.
        var invalid: (box: AnyBox, error: DefaultsError)?
        /// Whether the value is stored even if it equals the one in place of a missing one.
        var isAssigned = false

        var outcome: ChangeRule.Outcome {
            let isReplacing = replaced != nil || isAssigned && old.form == nil
            if before == after, !isReplacing { return ChangeRule.Outcome(new: old) }
            var outcome = rule.change(.change(from: before), over: old, to: after)
            if let replaced, replaced != outcome.new.stored { outcome.lost = rule.failure(of: replaced) }
            return outcome
        }
    }

    /// Returns a value to edit in place. The default is copied if it is an object.
    func editable<Value>(_ value: Value, _ conversion: Conversion<Value>) -> Value {
        guard unwrapped(Value.self) is AnyClass, let form = try? conversion.encode(value) else { return value }
        return (try? conversion.decode(form)) ?? value
    }

    /// Records a value that is stored at the commit.
    ///
    /// - Parameter isAssigned: False for an edit in place, which stores nothing if it changes
    ///   nothing.
    mutating func write<Value>(
        _ value: Value, _ name: String, _ declaration: Declaration<Value>, isAssigned: Bool = true
    ) {
        guard !base.isHistory(name) else { return fail(Histories.reserved(name)) }
        if !isMigrating { base.declare(name, declaration) }
        let key = ByteString(name)
        if typed[key]?.type != declaration.conversion.form {
            resolve(key)
            typed[key] = begin(name, declaration, isAssigned: isAssigned)
        }
        if isAssigned { typed[key]?.isAssigned = true }
        do throws(DefaultsError) {
            typed[key]?.after = try declaration.conversion.encode(value)
            typed[key]?.invalid = nil
        } catch {
            // A later edit may make it valid.
            typed[key]?.invalid = (Box(value), error.about(key: name))
        }
    }

    private func begin<Value>(
        _ name: String, _ declaration: Declaration<Value>, isAssigned: Bool
    ) -> TypedWrite {
        let (key, conversion) = (ByteString(name), declaration.conversion)
        var write = TypedWrite(type: conversion.form, rule: ChangeRule(conversion), isStored: !written.contains(key))
        let old = stored(name)
        let behind = isMigrating ? nil : base.behind(name, declaration)
        if isMigrating, isAssigned, !base.wasRead(name, onlyAs: Value.self) {
            // A step that has read the value as this type edits it. Any other assignment replaces
            // it.
            write.replaced = old
            if base.wasRead(name) { write.isStored = false }
        } else if old == nil, edits[key] != nil {
            // It was removed before, and a write does not overwrite what it cannot read.
            write.replaced = base.value(name, includesFallback: false)
            write.isStored = true
        } else {
            write.old = write.rule.examined(SeenValue(old, behind: behind?.properties))
        }
        let start = old == nil ? behind.flatMap { write.rule.examined(SeenValue($0.stored)).form } : nil
        write.before = write.old.form ?? start ?? declaration.start
        return write
    }

    mutating func remove<Value>(_ name: String, _ declaration: Declaration<Value>) {
        guard !base.isHistory(name) else { return }
        resolve(ByteString(name))
        let isCopied = base.wasUnreadable(name) && !(isMigrating && base.wasRead(name))
        if isCopied, let old = stored(name), let error = ChangeRule(declaration.conversion).failure(of: old) {
            setAside(old, of: name, error)
        }
        edits[ByteString(name)] = .some(nil)
    }

    /// Forgets what was written as a type. If it could not be stored, the contents cannot, either.
    mutating func discard(_ key: ByteString) {
        if let error = typed.removeValue(forKey: key)?.invalid?.error { fail(error) }
    }

    /// Computes what all typed writes store.
    mutating func resolve() { for name in typed.keys.map(\.string).sorted() { resolve(ByteString(name)) } }

    private mutating func resolve(_ key: ByteString) {
        guard let write = typed.removeValue(forKey: key) else { return }
        if let error = write.invalid?.error { return fail(error) }
        let (outcome, name) = (write.outcome, key.string)
        let new = outcome.new.stored
        let isChange = new != base.value(name, includesFallback: false) || base.isUnreadable(name)
        edits[key] = isChange ? .some(new) : nil
        written.insert(key)
        guard write.isStored, let error = outcome.lost, let old = write.replaced ?? write.old.stored else { return }
        setAside(old, of: name, error)
    }

    /// Copies a value that is about to be overwritten.
    mutating func setAside(_ old: PropertyList, of name: String, _ error: DefaultsError) {
        let (first, latest) = base.copyKeys(of: name)
        let copy = (stored(first).map { $0 == old } ?? !base.isUnreadable(first)) ? first : latest
        if copies.contains(where: { $0.key.hasSameBytes(as: copy) }), stored(copy) == old { return }
        edits[ByteString(copy)] = .some(old)
        copies.append((copy, error.about(key: name)))
    }
}
