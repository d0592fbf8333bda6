/// One key of one suite, read and written as one type. The stores and wrappers of this library are
/// built on it.
struct Setting<Value: Sendable>: Sendable {
    private let core: SuiteCore
    private let slot: Slot

    /// Creates the setting of a declaration.
    init(
        _ suite: DefaultsSuite, key: String, declaredBy declaration: Declaration<Value>, isDeclaring: Bool = true
    ) {
        // A raw property list conflicts with no other declaration.
        let isOfAnyType = declaration.conversion.kind == .propertyList
        self.init(
            suite, key: key, declaration.conversion, formerKeys: declaration.formerNames,
            declaredBy: isOfAnyType ? nil : declaration, isDeclaring: isDeclaring)
    }

    init(
        _ suite: DefaultsSuite, key: String, _ conversion: Conversion<Value>, formerKeys: [String] = [],
        declaredBy declaration: (any AnyDeclaration)? = nil, isDeclaring: Bool = true
    ) {
        core = suite.core
        slot =
            if suite.scope == nil {
                core.slot(
                    forKey: key, conversion, formerKeys: formerKeys, declaredBy: declaration, isDeclaring: isDeclaring)
            } else {
                core.slot(
                    forKey: suite.withPrefix(key), conversion, formerKeys: formerKeys.map(suite.withPrefix),
                    declaredBy: declaration, isDeclaring: isDeclaring, isScoped: true)
            }
    }

    init(_ core: SuiteCore, _ slot: Slot) { (self.core, self.slot) = (core, slot) }

    /// The setting of the suite that stands in for the standard suite in the current task.
    private var replacement: Setting? {
        guard let suite = StandInSuite.replacement(of: core, key: slot.key) else { return nil }
        return Setting(suite.core, slot.makeSlot(suite))
    }

    var name: SettingName { SettingName(key: slot.key, location: core.backend.location) }
}

extension Setting {
    /// Returns the value; `nil` if it is missing, unreadable or unavailable. In the last two cases,
    /// the failure handler receives an error, but only once for each unreadable value.
    func get() -> Value? {
        if let box = box() { unboxed(box) } else { nil }
    }

    /// Returns the value, or a default if it is missing, unreadable or unavailable.
    // Avoids an optional: creating one of a type that is known only at run time would double the
    // cost.
    @inline(__always)
    func get(or defaultValue: @autoclosure () -> Value) -> Value {
        if let box = box() { unboxed(box) } else { defaultValue() }
    }

    @inline(__always)
    private func box() -> (any AnyObject & Sendable)? {
        noteAccess()
        switch slot.kept(at: core.backend.generation) {
        case .value(let box): return box
        case .missing: return nil
        case .notDecoded, .failure: return readBox()
        }
    }

    private func readBox() -> (any AnyObject & Sendable)? {
        if let replacement { return replacement.box() }
        do throws(DefaultsError) {
            // There may have been external changes.
            defer { core.deliver() }
            return try box(of: core.current(slot))
        } catch {
            core.reportOnce(error, of: slot)
            return nil
        }
    }

    /// Notes a read of the value by other means, so that the Observation framework reports its next
    /// change.
    func noteRead() {
        if let replacement { return replacement.noteRead() }
        noteAccess()
    }

    @inline(__always)
    private func noteAccess() {
        if slot.noteAccess() { track() }
    }

    private func track() {
        if StandInSuite.replacement(of: core) == nil { core.track(slot) }
    }

    /// Returns the value; `nil` if it is missing.
    func load() throws(DefaultsError) -> Value? {
        if let replacement { return try replacement.load() }
        noteAccess()
        defer { core.deliver() }
        return try value(of: core.current(slot))
    }

    /// Returns the value of a layer above the stored values; `nil` if no such layer has one.
    func layeredValue() throws(DefaultsError) -> Value? {
        if let replacement { return try replacement.layeredValue() }
        guard let stored = slot.layeredValue else { return nil }
        return try value(of: slot.decode(.tree(stored)))
    }

    /// Whether a value is stored, even if it cannot be read. If the suite cannot be read, this is
    /// false and the failure handler receives an error.
    var isSet: Bool {
        if let replacement { return replacement.isSet }
        noteAccess()
        defer { core.deliver() }
        do throws(DefaultsError) {
            return try core.isStored(slot)
        } catch {
            core.reportOnce(error.about(key: slot.key), of: slot)
            return false
        }
    }

    /// Whether an administrator provides the value.
    var isManaged: Bool {
        if let replacement { return replacement.isManaged }
        noteAccess()
        return core.backend.isManaged(slot.key)
    }

    func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Value>) -> Void
    ) -> ObservationToken {
        if let replacement { return replacement.observe(initial: initial, handler) }
        let observer = Observers.SlotObserver { [name] change in handler(DefaultChange(change, name: name)) }
        return core.observe(slot, observer, initial: initial)
    }

    func report(_ error: DefaultsError) { (StandInSuite.replacement(of: core)?.core ?? core).report(error) }

    func set(_ value: Value) {
        do throws(DefaultsError) { try save(value) } catch { report(error) }
    }

    func remove() {
        do throws(DefaultsError) { try put(nil, keepsUnreadable: false) } catch { report(error) }
    }

    func save(_ value: Value) throws(DefaultsError) {
        try put(try slot.encode(value))
    }

    /// - Parameter recovers: Whether an unreadable value counts as missing instead of causing an
    ///   error.
    func update<Result>(
        recovers: Bool = false, _ body: (inout Value?) throws -> Result
    ) throws -> Result {
        if let replacement { return try replacement.update(recovers: recovers, body) }
        // Deliver even after a failure, because there may be external changes.
        var isDeliveryDue = true
        defer { if isDeliveryDue { core.deliver() } }
        do throws(DefaultsError) { try core.beginWrite() } catch { throw error.about(key: slot.key) }
        let result: Result
        let replacement: SuiteCore.Replacement
        do {
            defer { isDeliveryDue = core.endWrite() }
            // Use the stored value, never that of a layer such as a launch argument: writing that
            // back would make it permanent.
            var value = try stored(recovers: recovers)
            result = try body(&value)
            // A flush may have found that data was lost while `body` ran.
            try core.catchUpIfNeeded()
            replacement = try replace(with: try value.map { try slot.encode($0) } ?? nil)
        }
        try flushIfImmediate()
        if case .done(let unreadable?) = replacement { core.report(unreadable) }
        return result
    }

    private func stored(recovers: Bool) throws(DefaultsError) -> Value? {
        do throws(DefaultsError) { return try value(of: core.stored(slot)) } catch {
            guard recovers, error.kind == .unreadable else { throw error.about(key: slot.key) }
            return nil
        }
    }

    private func put(_ new: StoredValue?, keepsUnreadable: Bool = true) throws(DefaultsError) {
        switch new.map({ core.comparison(of: $0, with: slot) }) ?? .unknown {
        case .identical: return try flushIfImmediate()
        case .different: break
        case .unknown: if let replacement { return try replacement.put(new, keepsUnreadable: keepsUnreadable) }
        }
        var isDeliveryDue = true
        defer { if isDeliveryDue { core.deliver() } }
        var replacement = try put(new, keepsUnreadable: keepsUnreadable, recordsFirst: true, &isDeliveryDue)
        if case .mustRecord(let read) = replacement {
            if isDeliveryDue { core.deliver() }
            core.record(slot, read, for: new)
            replacement = try put(new, keepsUnreadable: keepsUnreadable, recordsFirst: false, &isDeliveryDue)
        }
        try flushIfImmediate()
        if case .done(let unreadable?) = replacement { core.report(unreadable) }
    }

    private func put(
        _ new: StoredValue?, keepsUnreadable: Bool, recordsFirst: Bool, _ isDeliveryDue: inout Bool
    ) throws(DefaultsError) -> SuiteCore.Replacement {
        isDeliveryDue = true
        do throws(DefaultsError) { try core.beginWrite() } catch { throw error.about(key: slot.key) }
        defer { isDeliveryDue = core.endWrite() }
        return try replace(with: new, keepsUnreadable: keepsUnreadable, recordsFirst: recordsFirst)
    }

    private func replace(
        with new: StoredValue?, keepsUnreadable: Bool = true, recordsFirst: Bool = false
    ) throws(DefaultsError) -> SuiteCore.Replacement {
        do throws(DefaultsError) {
            return try core.replace(
                slot, with: new, keepsUnreadable: keepsUnreadable, recordsFirst: recordsFirst)
        } catch {
            throw error.about(key: slot.key)
        }
    }

    private func flushIfImmediate() throws(DefaultsError) {
        do throws(DefaultsError) { try core.flushIfImmediate() } catch { throw error.about(key: slot.key) }
    }

    private func value(of content: Slot.Content) throws(DefaultsError) -> Value? {
        if let box = try box(of: content) { unboxed(box) } else { nil }
    }

    private func box(of content: Slot.Content) throws(DefaultsError) -> (any AnyObject & Sendable)? {
        switch content {
        case .value(let box): return box
        case .missing, .notDecoded: return nil
        case .failure(let error): throw error
        }
    }

    @inline(__always)
    private func unboxed(_ box: any AnyObject & Sendable) -> Value {
        // Safe: a slot creates only boxes of its own type, and is found by that type.
        unsafeDowncast(box, to: Box<Value>.self).value
    }
}
