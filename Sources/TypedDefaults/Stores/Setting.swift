/// One key of one suite as one type: all that a native store is.
struct Setting<Value: Sendable>: Sendable {
    let core: SuiteCore
    private let slot: Slot<Value>

    init(_ suite: DefaultsSuite, key: String, _ conversion: Conversion<Value>) {
        core = suite.core
        slot = core.slot(forKey: key, conversion)
    }
}

extension Setting {
    /// The value; nil if it is missing, unreadable or unavailable. The failure handler hears of the last two, of an unreadable value
    /// once.
    func get() -> Value? {
        if case .success(let value)? = kept { return value }
        do throws(DefaultsError) {
            switch try current() {
            case .success(let value): return value
            case .failure(let error): reportOnce(error)
            }
        } catch {
            core.report(error)
        }
        return nil
    }

    /// The value; nil if it is missing.
    func load() throws(DefaultsError) -> Value? {
        if case .success(let value)? = kept { return value }
        return try current().get()
    }

    /// What is known to be right without asking the backend for more than its generation.
    @inline(__always)
    private var kept: Slot<Value>.Outcome? {
        core.withSlots { areCurrent in
            areCurrent && slot.knowledge.isKnown ? slot.knowledge.outcome : nil
        }
    }

    /// What counts: the launch argument before what is stored.
    private func current() throws(DefaultsError) -> Slot<Value>.Outcome {
        guard let argument = slot.launchArgument else { return try stored() }
        return .success(try slot.conversion.decode(argument, true))
    }

    /// What is stored, decoded unless it is what was decoded last.
    private func stored() throws(DefaultsError) -> Slot<Value>.Outcome {
        var look = try glance()
        let outcome = look.outcome ?? slot.decode(look.stored)
        look.outcome = outcome
        core.withSlots { _ in slot.keep(look) }
        return outcome
    }

    /// What is stored, and what is known of it.
    private func glance() throws(DefaultsError) -> Slot<Value>.Knowledge {
        try core.catchUp()
        var (knowledge, isKnown) = core.withSlots { (slot.knowledge, $0 && slot.knowledge.isKnown) }
        guard !isKnown else { return knowledge }
        let stored = try core.value(forKey: slot.key)
        if stored != knowledge.stored { knowledge.learn(stored) }
        return knowledge
    }

    private func reportOnce(_ error: DefaultsError) {
        let isNew = core.withSlots { _ in
            defer { slot.knowledge.isReported = true }
            return !slot.knowledge.isReported
        }
        if isNew { core.report(error) }
    }
}

extension Setting {
    func set(_ value: Value) {
        do throws(DefaultsError) { try save(value) } catch { core.report(error) }
    }

    func remove() {
        do throws(DefaultsError) { try put(nil) } catch { core.report(error) }
    }

    func save(_ value: Value) throws(DefaultsError) {
        try put(try encode(value))
    }

    func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
        try core.withWriteAccess { () throws(DefaultsError) -> Swift.Result<Result, any Error> in
            // What is stored, never the launch argument: writing that back would make it permanent.
            var value = try stored().get()
            let result: Result
            do { result = try body(&value) } catch { return .failure(error) }
            var new: PropertyList?
            if let value { new = try encode(value) }
            try replace(with: new)
            return .success(result)
        }.get()
    }

    private func encode(_ value: Value) throws(DefaultsError) -> PropertyList? {
        do throws(DefaultsError) {
            guard let new = try slot.conversion.encode(value) else { return nil }
            try slot.conversion.checkOnce(new)
            return new
        } catch {
            throw error.about(key: slot.key)
        }
    }

    private func put(_ new: PropertyList?) throws(DefaultsError) {
        try core.withWriteAccess { () throws(DefaultsError) in try replace(with: new) }
    }

    /// Commits the new value, together with a copy of the old one if that cannot be read.
    private func replace(with new: PropertyList?) throws(DefaultsError) {
        let old = try glance()
        guard old.stored != new else { return }
        var edits = [(key: slot.key, value: new)]
        var unreadable: DefaultsError?
        if new != nil, let stored = old.stored, !old.isOwn,
            case .failure(let error) = old.outcome ?? slot.decode(stored)
        {
            unreadable = error
            edits.append((key: try core.keyToKeepAside(slot.key, stored), value: stored))
        }
        do throws(DefaultsError) { try core.commit(edits) } catch { throw error.about(key: slot.key) }
        core.withSlots { _ in slot.keepOwn(new) }
        if var unreadable {
            unreadable.reason += "; it is kept under “\(edits[1].key)”"
            core.report(unreadable)
        }
    }
}
