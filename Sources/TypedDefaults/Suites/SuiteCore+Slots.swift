import SettingsFile

// Reading and replacing what is stored under one key, whatever its type.
extension SuiteCore {
    /// What counts: the value of a layer before what is stored.
    func current(_ slot: Slot) throws(DefaultsError) -> Slot.Content {
        if let value = slot.layeredValue { return slot.decode(.tree(value)) }
        do throws(DefaultsError) { return try stored(slot) } catch { throw error.about(key: slot.key) }
    }

    /// What is stored, decoded unless it is what was decoded last.
    func stored(_ slot: Slot) throws(DefaultsError) -> Slot.Content {
        var read = try readCache(of: slot)
        guard case .notDecoded = read.content else { return read.content }
        read.content = slot.decode(read.stored)
        slot.keep(read)
        if case .value(let box) = read.content, let recovery = Slot.recovery(in: box),
            let first = recovery.errors.first,
            slot.takeReport(first.about(key: slot.key), of: read.stored, isValueExact: false)
        {
            for error in recovery.errors { report(error.about(key: slot.key)) }
        }
        return read.content
    }

    /// Whether anything is stored, readable or not.
    func isStored(_ slot: Slot) throws(DefaultsError) -> Bool {
        guard backend.hasFallbackValues else {
            do throws(DefaultsError) { return try readCache(of: slot).stored != nil } catch {
                // A value that the backend itself cannot read.
                guard error.kind == .unreadable else { throw error }
                return true
            }
        }
        for key in [slot.key] + slot.formerKeys where try backend.isStored(key) { return true }
        return false
    }

    /// Whether anything is stored under a key, readable or not.
    func isStored(_ key: String) throws(DefaultsError) -> Bool {
        if backend.hasFallbackValues { return try backend.isStored(key) }
        do throws(DefaultsError) {
            return try backend.storedValue(forKey: key) != nil
        } catch {
            guard error.kind == .unreadable else { throw error }
            return true
        }
    }

    /// Compares a value with the stored one, as far as a read would find.
    ///
    /// Acquires no lock of the writers. For an equal value, looks whether the settings file still
    /// has its name, which takes one system call: without that, a value in a file that another
    /// program has removed would count as stored. Unknown inside a write, where a write is an
    /// error.
    func comparison(of new: StoredValue, with slot: Slot) -> Slot.Comparison {
        guard let generation = backend.generation, !backend.hasFallbackValues, !AfterUnlock.holdsLock else {
            return .unknown
        }
        let comparison = slot.comparison(with: new, at: generation)
        if case .identical = comparison, settingsFile?.isInPlace == false { return .unknown }
        return comparison
    }

    /// What is stored, and what is known of it.
    private func readCache(of slot: Slot) throws(DefaultsError) -> Slot.Cache {
        let generation = try catchUp()
        var read = slot.known(at: generation)
        guard !read.isCurrent else { return read }
        let (stored, isUnderFormerKey) = try storedValue(of: slot)
        if stored != read.stored || isUnderFormerKey != read.isUnderFormerKey {
            read.learn(stored, isUnderFormerKey: isUnderFormerKey)
        }
        read.knowledge = .current(generation: generation)
        slot.keep(read)
        return read
    }

    /// Returns what is stored under the slot's key or, if there is nothing, under a former name of
    /// it.
    func storedValue(of slot: Slot) throws(DefaultsError) -> (value: StoredValue?, isUnderFormerKey: Bool) {
        let value = try backend.storedValue(forKey: slot.key)
        guard value == nil, !slot.formerKeys.isEmpty else { return (value, false) }
        // Another process may move the value between the reads. The limit ends the loop if it never
        // stops.
        for _ in 0..<100 {
            let generation = backend.generation
            for key in slot.formerKeys {
                if let value = try backend.storedValue(forKey: key) { return (value, true) }
            }
            if let value = try backend.storedValue(forKey: slot.key) { return (value, false) }
            if backend.generation == generation { break }
        }
        return (nil, false)
    }

    /// Returns what is stored under the key or, if there is nothing, under a former name that a
    /// declaration gives it.
    func storedValue(of key: String) throws(DefaultsError) -> (value: StoredValue?, isUnderFormerKey: Bool) {
        if let value = try backend.storedValue(forKey: key) { return (value, false) }
        guard let slot = slots(of: [key]).first(where: { $0.key.hasSameBytes(as: key) && !$0.formerKeys.isEmpty })
        else { return (nil, false) }
        return try storedValue(of: slot)
    }

    /// Commits a new value, inside write access, together with a copy of the old one if that cannot
    /// be read.
    ///
    /// - Parameters:
    ///   - keepsUnreadable: False if the caller asked to remove whatever is stored.
    ///   - recordsFirst: Whether to return ``Replacement/mustRecord(_:)`` instead of decoding the
    ///     old value: that runs code of the program, while other writers wait.
    func replace(
        _ slot: Slot, with new: StoredValue?, keepsUnreadable: Bool = true, recordsFirst: Bool = false
    ) throws(DefaultsError) -> Replacement {
        var old: Slot.Cache
        switch slot.beginCommit(of: new, at: write.generation) {
        case .begun:
            do throws(DefaultsError) { try commit([(slot.key, new)], by: slot, hasBegun: true) } catch {
                slot.endCommit()
                throw error
            }
            return .done(nil)
        case .equal:
            try storeFallbackValue(slot, new)
            return .done(nil)
        case .undecided(let cache): old = cache
        }
        if !old.isCurrent {
            do throws(DefaultsError) { old = try readCache(of: slot) } catch {
                return .done(try replaceUnknown(slot, with: new, keepsUnreadable: keepsUnreadable, error))
            }
        }
        if recordsFirst, keepsUnreadable, old.isUnread || old.needsRecording(for: new, slot.form), old.stored != new {
            return .mustRecord(old)
        }
        return .done(try replace(slot, old, with: new, keepsUnreadable: keepsUnreadable))
    }

    private func replace(
        _ slot: Slot, _ old: Slot.Cache, with new: StoredValue?, keepsUnreadable: Bool
    ) throws(DefaultsError) -> DefaultsError? {
        var (new, kept, lost) = (new, Slot.Kept?.none, DefaultsError?.none)
        var isEqual = old.stored == new
        if !isEqual, keepsUnreadable, let stored = old.stored {
            (new, kept, lost) = merge(slot, old, stored, into: new)
            if kept != nil { isEqual = stored == new }
        }
        var formerEdits: [Edit] = []
        // A removal must not leave a former value that this or another declaration of the key would
        // read.
        if new == nil || old.isUnderFormerKey {
            for key in formerKeys(of: [slot.key]) where try isStored(key) { formerEdits.append((key, nil)) }
        }
        if isEqual, !old.isUnderFormerKey, formerEdits.isEmpty {
            try storeFallbackValue(slot, new)
            return nil
        }
        var edits = [(key: slot.key, value: new)] + formerEdits
        if var error = lost, let stored = old.stored {
            let tree = stored.tree
            let isFree = try isFree(SetAside.copyKeys(of: slot.key).first, for: tree)
            edits += SetAside.edits(
                keeping: tree, of: slot.key, isFree: isFree, &error, keyLimit: backend.keyLimit
            ).map(Self.edit)
            lost = error
        }
        try commit(edits, by: slot, keeping: kept)
        return lost
    }

    /// Stores a value that is equal to the fallback value, unless it is stored already.
    private func storeFallbackValue(_ slot: Slot, _ new: StoredValue?) throws(DefaultsError) {
        guard new != nil, backend.hasFallbackValues, try !backend.isStored(slot.key) else { return }
        try commit([(slot.key, new)], by: slot)
    }

    enum Replacement {
        /// The value is replaced. The error is reported when write access has ended: no handler is
        /// called while other writers wait.
        case done(DefaultsError?)
        /// Nothing was done. Call ``record(_:_:for:)`` without write access, and try again.
        case mustRecord(Slot.Cache)
    }

    /// Finds out what a write of a new value must keep of the stored one.
    func record(_ slot: Slot, _ read: Slot.Cache, for new: StoredValue?) {
        guard let stored = read.stored else { return }
        guard read.needsRecording(for: new, slot.form) else {
            var read = read
            read.content = slot.decode(stored)
            return slot.keep(read)
        }
        let recovery = Result { () throws(DefaultsError) in try slot.recovery(of: stored) }
        if case .success(let recovery) = recovery { slot.keep(recovery, of: read) }
    }

    /// Puts entries of the stored value that the slot's type does not know, or could not read, into
    /// the value that replaces it.
    ///
    /// - Returns: The value to store, what it keeps, and why the stored value must be set aside.
    private func merge(
        _ slot: Slot, _ old: Slot.Cache, _ stored: StoredValue, into new: StoredValue?
    ) -> (new: StoredValue?, Slot.Kept?, DefaultsError?) {
        let recovery: DecodingRecovery?
        do throws(DefaultsError) {
            if case .kept(let kept) = old.unread {
                recovery = kept.recovery
            } else if old.needsRecording(for: new, slot.form) {
                recovery = try slot.recovery(of: stored)
            } else {
                switch content(of: slot, old) {
                case .value(let box): recovery = Slot.recovery(in: box)
                case .failure(let error): throw error
                case .missing, .notDecoded: recovery = nil
                }
            }
        } catch {
            return (new, nil, error)
        }
        guard let recovery, let new else { return (new, nil, nil) }
        let merged = recovery.merged(into: new.tree)
        return (
            .tree(merged.new), merged.kept.entries.isEmpty ? nil : Slot.Kept(merged.kept),
            merged.isComplete ? nil : recovery.errors.first?.about(key: slot.key)
        )
    }

    /// Commits a new value in place of one that the backend itself cannot read, after copying that
    /// one as it is.
    private func replaceUnknown(
        _ slot: Slot, with new: StoredValue?, keepsUnreadable: Bool, _ failure: DefaultsError
    ) throws(DefaultsError) -> DefaultsError? {
        guard failure.kind == .unreadable, let key = failure.key else { throw failure }
        let copy = keepsUnreadable ? try setAsideUnknownValue(of: key, as: slot.key, failure) : nil
        var edits = [(key: slot.key, value: new)]
        for key in formerKeys(of: [slot.key]) where try isStored(key) { edits.append((key: key, value: nil)) }
        try commit(edits + (copy?.info ?? []).map(Self.edit), by: slot)
        return copy?.error
    }

    /// Copies a value that the backend itself cannot read, as a commit of its own that comes first:
    /// whatever happens then, nothing is lost.
    ///
    /// - Returns: The key of the copy, the edit that says when and why it was made, and the error
    ///   to report once write access has ended.
    func setAsideUnknownValue(
        of key: String, as name: String, _ failure: DefaultsError? = nil
    ) throws(DefaultsError) -> (key: String, info: [(key: String, value: PropertyList?)], error: DefaultsError) {
        var failure =
            failure
            ?? DefaultsError(
                .unreadable, key: key, reason: "the stored bytes are not a value that this version can read")
        guard let settingsFile else { throw failure }
        let (first, latest) = SetAside.copyKeys(of: name)
        let copy = try settingsFile.copyRawValue(forKey: key, to: first, else: latest)
        write.generation = try catchUp()
        let info = SetAside.info(ofCopy: copy, failure, keyLimit: backend.keyLimit)
        failure.reason += "; it is kept under “\(copy)”"
        return (copy, info, failure)
    }

    /// What would be lost. One's own value is taken for readable until a read has failed.
    private func content(of slot: Slot, _ read: Slot.Cache) -> Slot.Content {
        guard case .notDecoded = read.content, !read.isReadable else { return read.content }
        return slot.decode(read.stored)
    }

    /// Reports a failure to read, of an unreadable value only once.
    ///
    /// - Parameter stored: What could not be read; nil for what the slot has looked at last.
    func reportOnce(_ error: DefaultsError, of slot: Slot, stored: StoredValue? = nil) {
        let isNew =
            error.kind != .unreadable
            || slot.takeReport(error, of: stored, isValueExact: backend.generation != nil)
        if isNew { report(error) }
    }

    /// Returns whether nothing, or an equal value, is stored under the key.
    private func isFree(_ key: String, for value: PropertyList) throws(DefaultsError) -> Bool {
        do throws(DefaultsError) { return try backend.value(forKey: key).map { $0 == value } ?? true } catch {
            // A copy of a value that the backend itself cannot read.
            guard error.kind == .unreadable else { throw error }
            return false
        }
    }
}
