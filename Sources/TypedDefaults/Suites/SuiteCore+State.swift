import SettingsFile

extension SuiteCore {
    /// The slots and declarations of one key. A class, because copying these arrays at each use
    /// would cost more than everything else. Accessed only while the lock of the state is held.
    final class Key {
        // Exclusivity needs no check at each access, because no foreign code runs under the lock.
        @exclusivity(unchecked)
        var slots: [Slot] = []
        /// The slots of the keys that have this key as a former name.
        @exclusivity(unchecked)
        var successors: [Slot] = []
        /// The last declaration that was used, and the content that all declarations must agree
        /// with.
        var declaration: (any AnyDeclaration)?
        var declared: DeclarationContent?
        /// The source lines that declared the key without a conflict, and the forms that they
        /// declared.
        private var lines: [(site: DeclarationSite, form: ConversionForm)] = []
        /// Whether a store or a wrapper was made for the key.
        var isDeclared = false
        /// Whether a conflict of declarations was reported.
        var isInConflict = false

        /// Returns whether a declaration must be compared with the earlier ones.
        ///
        /// Each source line is compared only once, so that an expression which creates a key at
        /// each use stays cheap.
        func isNew(_ declaration: any AnyDeclaration) -> Bool {
            guard declaration !== self.declaration, !isInConflict else { return false }
            guard let site = declaration.site else { return true }
            let form = declaration.form
            return !lines.contains { $0.form == form && $0.site.isSame(as: site) }
        }

        /// Adds a declaration without a conflict.
        func add(_ content: DeclarationContent) {
            // The first declaration may have had no default.
            if declared.flatMap(\.defaultValue) == nil { declared = content }
            if let site = content.site, site.isOfProgram, content.defaultValue != nil {
                lines.append((site, content.form))
            }
        }

        /// Whether the entry can be removed without losing anything.
        var isEmpty: Bool {
            slots.isEmpty && successors.isEmpty && declared == nil && !isDeclared && !isInConflict
        }

        /// Removes the slots that only this entry holds, and the last declaration if none is left.
        func removeUnused() -> [any AnyObject & Sendable] {
            var unused: [any AnyObject & Sendable] = []
            for index in slots.indices.reversed()
            where isKnownUniquelyReferenced(&slots[index]) && slots[index].canBeMadeAgain {
                unused.append(slots.remove(at: index))
            }
            guard slots.isEmpty, let last = declaration else { return unused }
            declaration = nil
            unused.append(last)
            return unused
        }
    }

    /// The slots of keys that `suite[key]` has used, found by the address of their declaration.
    ///
    /// A table of pairs of places. An entry is at one of the two places of its pair, and may be
    /// replaced by another one.
    struct RecentSlots {
        typealias Entry = (declaration: any AnyDeclaration, slot: Slot)
        private var entries: [Entry?] = []
        /// How far a hash is shifted to find a pair.
        private var shift: UInt64 = 64 - 5

        /// Returns the first place of a pair.
        @inline(__always)
        private func place(of declaration: AnyObject) -> Int {
            let address = UInt64(UInt(bitPattern: ObjectIdentifier(declaration)))
            return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> shift) &<< 1
        }

        @inline(__always)
        func slot(of declaration: AnyObject) -> Slot? {
            guard !entries.isEmpty else { return nil }
            let place = place(of: declaration)
            if entries[place]?.declaration === declaration { return entries[place]?.slot }
            return entries[place + 1]?.declaration === declaration ? entries[place + 1]?.slot : nil
        }

        /// - Parameter slotCount: The number of slots of the suite, which limits the size.
        /// - Returns: The entries that it replaces, to release after unlocking.
        mutating func insert(_ entry: Entry, slotCount: Int) -> [Entry?] {
            if entries.isEmpty { entries = Array(repeating: nil, count: 2 << (64 - shift)) }
            let place = place(of: entry.declaration)
            guard let first = entries[place] else {
                entries[place] = entry
                return []
            }
            guard let second = entries[place + 1] else {
                entries[place + 1] = entry
                return []
            }
            guard entries.count < 4 * slotCount else {
                (entries[place], entries[place + 1]) = (entry, first)
                return [second]
            }
            let old = entries
            shift -= 1
            entries = []
            return old
        }

        /// - Returns: The declarations, to release after unlocking.
        mutating func removeAll() -> [any AnyDeclaration] {
            defer { self = RecentSlots() }
            return entries.compactMap { $0?.declaration }
        }
    }

    struct State {
        /// The generation of the slots' caches; `nil` before the first read.
        var generation: UInt64?
        var keys: [ByteString: Key] = [:]
        /// The number of slots, and the number at which unused slots are removed.
        var slotCount = 0
        var slotLimit = Self.leastSlotLimit
        /// A suite keeps this many slots for keys that are only used through `suite[key]`.
        private static let leastSlotLimit = 16_384
        /// The commit that is under way, and the slots of its keys.
        var commit: (edits: [Edit], slots: [Slot]) = ([], [])
        var recent = RecentSlots()
        /// Incremented when a commit begins and when it ends, so it is odd during a commit.
        var commitVersion: UInt = 0
        /// The process that will call ``DefaultsBackend/synchronize()`` in the background, by
        /// ``Forks/count``.
        var synchronizingProcess: Int?
        var onFailure: @Sendable (DefaultsError) -> Void
        var observers = Observers()
        var layers: Layers
        /// Whether another suite may stand in for this one; see
        /// ``DefaultsSuite/withStandard(_:operation:)``.
        var isBypassed = false

        init(layers: Layers, onFailure: @escaping @Sendable (DefaultsError) -> Void) {
            (self.layers, self.onFailure) = (layers, onFailure)
        }

        func slot(_ key: String, _ form: ConversionForm, formerKeys: [String]) -> Slot? {
            keys[ByteString(key)]?.slots.first { $0.form == form && $0.formerKeys == formerKeys }
        }

        /// Returns the slots whose value can depend on the keys of those edits, each of them once.
        ///
        /// - Parameter writer: The slot that the first edit was made through.
        func slots(of edits: [Edit], by writer: Slot?) -> [Slot] {
            // Usually there is one edit, and the slot knows the entry of its key.
            if edits.count == 1, let key = writer?.entry, key.successors.isEmpty { return key.slots }
            return slots(of: edits.lazy.map(\.key))
        }

        /// Returns the slots whose value can depend on those keys, each of them once.
        func slots(of names: some Sequence<String>) -> [Slot] {
            var slots: [Slot] = []
            for name in names {
                guard let key = keys[ByteString(name)] else { continue }
                // Usually there is one key, and its array is returned without a copy.
                if slots.isEmpty { slots = key.slots } else { slots += key.slots }
                // A commit that moves a value edits both its key and its former one.
                for slot in key.successors where !slots.contains(where: { $0 === slot }) { slots.append(slot) }
            }
            return slots
        }

        /// Records a commit of this process for the observers.
        ///
        /// - Parameter readable: The values that readers get after the commit; `nil` if there were
        ///   no observers when the commit began.
        mutating func record(
            _ edits: [Edit], of slots: [Slot], _ readable: ReadableValues?,
            hasFallbackValues: Bool
        ) {
            let depth = NotificationDepth.current + 1
            observers.noteChange(of: slots, depth: depth)
            guard !observers.isEmpty else { return }
            let values = readable?.values ?? edits
            for slot in slots {
                // There are few values, and usually only one.
                let edit = values.first { $0.key.hasSameBytes(as: slot.key) }
                let former = readable?.former.first { $0.slot === slot }
                if former == nil, !slot.formerKeys.isEmpty || (hasFallbackValues && readable == nil) {
                    // It could not be read, or the first observer came during the commit.
                    observers.markStale([slot])
                    observers.markStale([slot.key])
                }
                guard let value = former.map(\.value) ?? edit.map(\.value) else { continue }
                observers.enqueue(slot, value, isForeign: false, depth: depth)
            }
            guard observers.hasSuiteObservers else { return }
            // A value under a former key is reported under the current one.
            let former = readable?.former ?? []
            var reported = values.filter { edit in !former.contains { $0.slot.key.hasSameBytes(as: edit.key) } }
            for (slot, value) in former where !reported.contains(where: { $0.key.hasSameBytes(as: slot.key) }) {
                reported.append((slot.key, value))
            }
            let names = reported.lazy.map { ByteString($0.key) }
            let declared = Set(names.filter { [keys] name in keys[name]?.isDeclared == true })
            observers.enqueue(
                reported.map { ($0.key, $0.value?.tree) }, declared: declared, origin: .local, depth: depth)
        }

        /// Removes unused slots if there are many. They are created again when their key is used.
        ///
        /// - Returns: What to release after unlocking: values and defaults may hold objects of the
        ///   program.
        private mutating func removeUnused() -> [any AnyObject & Sendable] {
            guard slotCount > slotLimit else { return [] }
            // Their slots stay alive, because the entries of the keys hold them too.
            var unused: [any AnyObject & Sendable] = recent.removeAll()
            var emptied: [ByteString] = []
            slotCount = 0
            for (name, key) in keys {
                unused += key.removeUnused()
                slotCount += key.slots.count
                if key.isEmpty { emptied.append(name) }
            }
            for key in emptied { keys[key] = nil }
            // The limit grows with the number of slots, so that the average work per slot stays
            // constant.
            slotLimit = max(Self.leastSlotLimit, 2 * slotCount)
            return unused
        }

        /// Returns the entry of a key, and creates it if there is none.
        mutating func entry(_ name: String) -> Key {
            let name = ByteString(name)
            if let key = keys[name] { return key }
            let key = Key()
            keys[name] = key
            return key
        }

        /// Returns another key with a former name of a new slot, and that name, unless a conflict
        /// of the slot's key was reported before.
        mutating func rival(of slot: Slot) -> (key: String, former: String)? {
            for former in slot.formerKeys {
                let rival = keys[ByteString(former)]?.successors.first { !$0.key.hasSameBytes(as: slot.key) }
                guard let rival, !entry(slot.key).isInConflict else { continue }
                entry(slot.key).isInConflict = true
                return (rival.key, former)
            }
            return nil
        }

        /// - Returns: What to release after unlocking.
        mutating func add(_ slot: Slot) -> [any AnyObject & Sendable] {
            slotCount += 1
            addToTable(slot)
            return removeUnused()
        }

        private mutating func addToTable(_ slot: Slot) {
            if isBypassed { slot.bypassKeptValues() }
            let key = entry(slot.key)
            key.slots.append(slot)
            slot.entry = key
            for key in slot.formerKeys { entry(key).successors.append(slot) }
            let names = [slot.key] + slot.formerKeys
            guard commit.edits.contains(where: { edit in names.contains { $0.hasSameBytes(as: edit.key) } }) else {
                return
            }
            slot.markCommitting()
            commit.slots.append(slot)
        }
    }
}
