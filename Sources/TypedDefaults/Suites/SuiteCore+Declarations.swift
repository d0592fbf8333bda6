import SettingsFile

extension SuiteCore {
    /// Returns the slot for a key, a type and a conversion, and creates it if there is none.
    ///
    /// - Parameters:
    ///   - formerKeys: The former names of the key, newest first. See ``Slot/formerKeys``.
    ///   - declaration: The declaration of the key, to be compared with other ones; `nil` if there
    ///     is none.
    ///   - isDeclaring: Whether observers of declared keys receive changes of this key from now on.
    ///   - isScoped: Whether the key is the declared one in a scope. Then ``recentSlot(of:)`` does
    ///     not find it.
    func slot<Value>(
        forKey key: String, _ conversion: Conversion<Value>, formerKeys: [String] = [],
        declaredBy declaration: (any AnyDeclaration)? = nil, isDeclaring: Bool = true, isScoped: Bool = false
    ) -> Slot {
        let (known, isNewDeclaration, isNew, replaced) = state.withLock {
            state -> (Slot?, Bool, Bool, [RecentSlots.Entry?]) in
            guard let known = state.keys[ByteString(key)] else { return (nil, declaration != nil, isDeclaring, []) }
            let isNewDeclaration = if let declaration { known.isNew(declaration) } else { false }
            let isNew = isDeclaring && !known.isDeclared
            let form = conversion.form
            let slot = known.slots.first { $0.form == form && $0.formerKeys == formerKeys }
            // A key that is made at each use is another declaration each time.
            guard !isScoped, let slot, let declaration, declaration === known.declaration else {
                return (slot, isNewDeclaration, isNew, [])
            }
            let replaced = state.recent.insert((declaration, slot), slotCount: state.slotCount)
            return (slot, isNewDeclaration, isNew, replaced)
        }
        // Released after unlocking: a default may be an object of the program.
        withExtendedLifetime(replaced) {}
        if let declaration, isNewDeclaration { note(declaration, of: key) }
        let slot = known ?? makeSlot(forKey: key, conversion, formerKeys)
        if isNew { state.withLock { $0.entry(key).isDeclared = true } }
        if isNew || (known == nil && !formerKeys.isEmpty) { noteDeclaration(of: key) }
        return slot
    }

    /// Returns the slot of a declared key that was used recently, outside all scopes.
    @inline(__always)
    func recentSlot(of declaration: AnyObject) -> Slot? { state.withLock { $0.recent.slot(of: declaration) } }

    /// Declares a key without creating a slot.
    func declare(_ declaration: any AnyDeclaration, of key: String) {
        // A key for a raw property list declares nothing.
        guard declaration.form.kind != .propertyList else { return }
        let (isNewDeclaration, isNew) = state.withLock { state -> (Bool, Bool) in
            guard let known = state.keys[ByteString(key)] else { return (true, true) }
            return (known.isNew(declaration), !known.isDeclared)
        }
        if isNew { state.withLock { $0.entry(key).isDeclared = true } }
        if isNewDeclaration { note(declaration, of: key) }
        if isNew { noteDeclaration(of: key) }
    }

    /// Records a declaration. If it contradicts another one, the failure handler receives an error,
    /// once for each key.
    func note(_ declaration: any AnyDeclaration, of key: String) {
        // Call this outside the lock, because it encodes the default.
        let content = declaration.content
        // Release the old declaration after unlocking: its default may be an object of the program.
        let (conflict, old) = state.withLock { state -> (DefaultsError?, (any AnyDeclaration)?) in
            let known = state.entry(key)
            let old = known.declaration
            known.declaration = declaration
            let conflict = known.declared.flatMap { content.conflict(with: $0, key: key) }
            guard let conflict, !known.isInConflict else {
                known.add(content)
                return (nil, old)
            }
            known.isInConflict = true
            return (conflict, old)
        }
        withExtendedLifetime(old) {}
        if let conflict { report(conflict) }
    }

    private func makeSlot<Value>(
        forKey key: String, _ conversion: Conversion<Value>, _ formerKeys: [String]
    ) -> Slot {
        let made = Slot(key, conversion, formerKeys: formerKeys)
        let layers = state.withLock { $0.layers }
        let (layered, refusal) = layers.value(of: made)
        let result = state.withLock {
            state -> (Slot, (key: String, former: String)?, [any AnyObject & Sendable])? in
            if let slot = state.slot(key, conversion.form, formerKeys: formerKeys) { return (slot, nil, []) }
            guard state.layers === layers else { return nil }
            _ = made.setLayered(layered, isBypassed: state.isBypassed)
            return (made, state.rival(of: made), state.add(made))
        }
        // Another thread has just replaced the layers.
        guard let (slot, rival, unused) = result else { return makeSlot(forKey: key, conversion, formerKeys) }
        withExtendedLifetime(unused) {}
        if let rival {
            report(
                DefaultsError(
                    .conflict, key: key, type: "\(Value.self)",
                    reason: "“\(rival.former)” is a former name of “\(rival.key)” as well: the first write of one "
                        + "takes the value from the other"))
        }
        if slot === made, let refusal { report(refusal) }
        return slot
    }

    /// Makes all slots check for a stand-in suite before they return a cached value.
    func bypassKeptValues() {
        state.withLock { state in
            guard !state.isBypassed else { return }
            state.isBypassed = true
            for key in state.keys.values { for slot in key.slots { slot.bypassKeptValues() } }
        }
    }

    /// The keys that stores, wrappers and other declarations use.
    var declaredKeys: [String] { state.withLock { $0.keys.filter(\.value.isDeclared).map(\.key.string) } }

    /// Returns the former names of those keys in all declarations.
    func formerKeys(of keys: some Sequence<String>) -> [String] {
        state.withLock { state in
            keys.flatMap { key in state.keys[ByteString(key)]?.slots.flatMap(\.formerKeys) ?? [] }
        }
    }

    /// Returns the keys and those that have one of them as a former name.
    func withSuccessors(_ keys: [String]) -> [String] {
        state.withLock { state in
            keys + keys.flatMap { key in state.keys[ByteString(key)]?.successors.map(\.key) ?? [] }
        }
    }

    func slots(of keys: [String]) -> [Slot] { state.withLock { Array($0.slots(of: keys)) } }

    /// Makes slots forget values that external changes have made stale.
    ///
    /// - Returns: The generation for which the slots' values are right; `nil` if the backend has
    ///   none.
    func catchUp() throws(DefaultsError) -> UInt64? {
        while let now = backend.generation {
            let seen = state.withLock { $0.generation }
            guard now != seen else { return seen }
            let (keys, generation) = try backend.changes(since: seen ?? 0)
            let isCaughtUp = state.withLock { state in
                // Another thread was faster, but may have read before the change that this one saw.
                guard state.generation == seen else { return false }
                state.generation = generation
                let changed = if let keys { state.slots(of: keys) } else { state.keys.values.flatMap(\.slots) }
                for slot in changed { slot.forget() }
                // Under the same lock, so that no thread sees the new generation before the slots
                // are marked stale.
                state.observers.noteChange(of: changed, depth: NotificationDepth.current + 1)
                state.observers.markStale(changed)
                state.observers.markStale(keys)
                return true
            }
            if isCaughtUp { return generation }
        }
        return nil
    }
}
