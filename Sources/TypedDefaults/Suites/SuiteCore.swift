import SettingsFile

// The core of a suite
// ===================
//
// All handles on one suite share a `SuiteCore`. It owns the backend, one `Slot` for each pair of
// key and type, and the observers.
//
// A write
// -------
// `Setting.put` encodes the value first, under no lock. Then:
//
// 1. `beginWrite` acquires `turns`, the lock of the writers of this process, and calls the
//    backend's `beginWrite`, which waits for other processes. If the generation of the backend is
//    not the one of the last write, the core catches up with external changes and records them for
//    observers.
// 2. `replace` compares the new value with the stored one. An equal value ends the write here. A
//    stored value that the type cannot read is kept under another key, in the same commit.
// 3. `commit` makes the slots of all edited keys forget what they know. Until the commit has ended,
//    they keep nothing that is read, so every reader asks the backend, for which the commit is one
//    event. After the backend has committed, one access to the state ends the commit: the slot that
//    was written keeps the new value, and the observers' events are recorded.
// 4. `endWrite` lets other processes and threads write. It processes external changes if a thread
//    requested that meanwhile.
// 5. An immediate suite flushes, so that several writers share one flush, and `deliver` notifies.
//
// `update` does the same, and reads the stored value and calls its closure between 1 and 2.
//
// Slots and generations
// ---------------------
// A slot keeps the stored value and what it was decoded to. A read is right if the slot's
// generation is the backend's. The generation of a backend grows when something may have changed
// other than by a commit of this suite. `catchUp` then asks which keys changed, and makes their
// slots forget. A backend without a generation is read each time. A read that was under way when
// its slot forgot something does not keep its result, because the version of the slot has changed.
//
// Slots that only `suite[key]` uses are removed when there are many of them, and made again later.
//
// Launch arguments and former keys
// --------------------------------
// A launch argument is fixed when the slot is made. `get` returns it before what is stored, but
// `update` works on what is stored, so that an argument never becomes permanent.
//
// A declaration can name former keys. Without a value under the key, the value under the first of
// them counts. The first write moves it: the new value and the removals are one commit. Therefore
// an edit of a former key concerns the slots of its successors as well (`Key.successors`).
//
// The locks
// ---------
// A thread that holds a lock acquires only locks below it in this table. Only the first four are
// held while code of others runs, such as the closure of an `update`.
//
// | lock                    | protects                             | acquired while it is held    |
// |-------------------------|--------------------------------------|------------------------------|
// | `DeferredWork.runLock`  | background flushes, until exit       | everything below             |
// | `Relay.turns`           | writes through a box of a store      | everything below             |
// | `SuiteCore.turns`       | writes of a suite, `SuiteCore.write` | all below, and other suites  |
// | file lock (`flock`)     | the settings file among processes    | everything below             |
// | `coresInUse`            | the suites in use                    | none                         |
// | `SuiteCore.state`       | keys, declarations, observers        | `Slot.knowledge`             |
// | `Slot.knowledge`        | what is known of one key as one type | none                         |
// | `SettingsFile.flushing` | callers that wait for a flush        | none                         |
// | `SettingsFile.state`    | the log and what changed             | `snapshot`, `Descriptors.*`  |
// | `SettingsFile.snapshot` | what `generation` reads              | none                         |
// | `Forks.registry`        | the locks to hold during a fork      | none                         |
// | `Descriptors.gate`      | calls that begin to open descriptors | `Descriptors.table`          |
// | `Descriptors.table`     | the descriptors that are open        | none                         |
// | other `Locked` values   | such as those of `MemoryBackend`     | none                         |
//
// `DefaultImplementation.known` and the default failure handler are only acquired if they are free.
//
// A fork acquires `ForkOrder`'s groups in order: the table of suites, the locks of each suite
// (`turns`, `state`, its slots), the locks of each backend (`flushing`, `state`, `snapshot`), the
// leaves, and at last the registry and the descriptors. In the child each lock first ends what
// other threads of the parent had begun: `unlockInChild`.

/// What all handles on one suite share: the backend, the lock of its writers, what is known of
/// stored values, and the observers.
final class SuiteCore: Sendable {
    let backend: any SystemBackend
    let turns = RecursionCheckingLock()
    private let id: CoreID?
    /// How long a writer waits for its turn before it throws ``DefaultsError/Kind/timedOut``.
    private let timeout: Duration
    /// The backend, if it is a settings file.
    let settingsFile: (any SettingsFileBackend)?

    /// What a write keeps from its begin to its end.
    struct Write {
        /// The generation of the backend, which the suite has caught up with.
        var generation: UInt64?
        /// Whether there is anything to deliver.
        var isDeliveryDue = false
    }
    // Safe: touched only by the thread that holds `turns`.
    @exclusivity(unchecked)
    nonisolated(unsafe) var write = Write()

    /// What is known of one key. An object, because to copy its parts at each use costs more than
    /// the rest. Touched only with the lock of the state held.
    private final class Key {
        // Not checked at each access whether another one is under way: no code of others runs under
        // the lock.
        @exclusivity(unchecked)
        var slots: [Slot] = []
        /// The slots of other keys that were once called this one and still read it.
        @exclusivity(unchecked)
        var successors: [Slot] = []
        /// The last declaration that was met, and what they all say.
        var declaration: (any AnyDeclaration)?
        var declared: DeclarationContent?
        /// Whether a store, a wrapper or the like was made for the key, not just a look at it.
        var isDeclared = false
        /// Whether the failure handler has heard that declarations contradict each other.
        var isInConflict = false

        /// Whether nothing is lost without the entry.
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

    private struct State {
        /// The generation up to which the slots are right; nil before the first look.
        var generation: UInt64?
        var keys: [ByteString: Key] = [:]
        /// How many slots there are, and with how many the unused ones are removed.
        var slotCount = 0
        var slotLimit = Self.leastSlotLimit
        /// A suite keeps this many slots for keys that are only used through `suite[key]`.
        private static let leastSlotLimit = 512
        /// The commit that is under way, and the slots of its keys.
        var commit: (edits: [(key: String, value: PropertyList?)], slots: [Slot]) = ([], [])
        /// The process that will call ``DefaultsBackend/synchronize()`` in the background, by
        /// ``Forks/count``.
        var synchronizingProcess: Int?
        var onFailure: @Sendable (DefaultsError) -> Void
        var observers = Observers()
        /// Whether another suite may stand in for this one; see
        /// ``DefaultsSuite/withStandard(_:operation:)``.
        var isBypassed = false

        init(onFailure: @escaping @Sendable (DefaultsError) -> Void) { self.onFailure = onFailure }

        func slot(_ key: String, _ form: ConversionForm, formerKeys: [String]) -> Slot? {
            keys[ByteString(key)]?.slots.first { $0.form == form && $0.formerKeys == formerKeys }
        }

        /// Returns the slots whose value can depend on those keys, each of them once.
        func slots(of names: some Sequence<String>) -> [Slot] {
            var slots: [Slot] = []
            for name in names {
                guard let key = keys[ByteString(name)] else { continue }
                // Mostly there is one key, whose array is taken as it is.
                if slots.isEmpty { slots = key.slots } else { slots += key.slots }
                // A commit that moves a value edits both its key and its former one.
                for slot in key.successors where !slots.contains(where: { $0 === slot }) { slots.append(slot) }
            }
            return slots
        }

        /// Records a commit of this process for the observers.
        ///
        /// - Parameter readable: What readers get by now; `nil` if there were no observers when the
        ///   commit began.
        mutating func record(
            _ edits: [(key: String, value: PropertyList?)], of slots: [Slot], _ readable: ReadableValues?,
            hasFallbackValues: Bool
        ) {
            let depth = ChangeRow.depth + 1
            observers.noteChange(of: slots, depth: depth)
            guard !observers.isEmpty else { return }
            let values = readable?.values ?? edits
            for slot in slots {
                // There are few, mostly one.
                let edit = values.first { $0.key.hasSameBytes(as: slot.key) }
                let former = readable?.former.first { $0.slot === slot }
                if former == nil, !slot.formerKeys.isEmpty || (hasFallbackValues && readable == nil) {
                    // It could not be read, or the first observer came during the commit.
                    observers.doubt([slot])
                    observers.doubt([slot.key])
                }
                guard let value = former.map(\.value) ?? edit.map(\.value) else { continue }
                observers.announce(slot, value, isForeign: false, depth: depth)
            }
            guard observers.hasSuiteObservers else { return }
            // A value under a former key is reported under the present one.
            let former = readable?.former ?? []
            var reported = values.filter { edit in !former.contains { $0.slot.key.hasSameBytes(as: edit.key) } }
            for (slot, value) in former where !reported.contains(where: { $0.key.hasSameBytes(as: slot.key) }) {
                reported.append((slot.key, value))
            }
            let names = reported.lazy.map { ByteString($0.key) }
            let declared = Set(names.filter { [keys] name in keys[name]?.isDeclared == true })
            observers.announce(reported, declared: declared, origin: .local, depth: depth)
        }

        /// Removes unused slots if there are many. They are made again when their key is used.
        ///
        /// - Returns: What to release after unlocking: values and defaults may hold objects of the
        ///   program.
        private mutating func removeUnused() -> [any AnyObject & Sendable] {
            guard slotCount > slotLimit else { return [] }
            var unused: [any AnyObject & Sendable] = []
            var emptied: [ByteString] = []
            slotCount = 0
            for (name, key) in keys {
                unused += key.removeUnused()
                slotCount += key.slots.count
                if key.isEmpty { emptied.append(name) }
            }
            for key in emptied { keys[key] = nil }
            // So that the work for each slot stays the same on average, however many there are.
            slotLimit = max(Self.leastSlotLimit, 2 * slotCount)
            return unused
        }

        /// The entry of a key, which is made if there is none.
        mutating func entry(_ name: String) -> Key {
            let name = ByteString(name)
            if let key = keys[name] { return key }
            let key = Key()
            keys[name] = key
            return key
        }

        /// - Returns: What to release after unlocking.
        mutating func add(_ slot: Slot) -> [any AnyObject & Sendable] {
            slotCount += 1
            addToTable(slot)
            return removeUnused()
        }

        private mutating func addToTable(_ slot: Slot) {
            if isBypassed { slot.bypassKeptValues() }
            entry(slot.key).slots.append(slot)
            for key in slot.formerKeys { entry(key).successors.append(slot) }
            let names = [slot.key] + slot.formerKeys
            guard commit.edits.contains(where: { edit in names.contains { $0.hasSameBytes(as: edit.key) } }) else {
                return
            }
            slot.unsettle()
            commit.slots.append(slot)
        }
    }
    private let state: Locked<State>
    private let writeOncePerKind: @Sendable (DefaultsError) -> Void
    private let locks: Locks

    /// Creates a core that no other suite shares.
    convenience init(_ backend: any DefaultsBackend, timeout: Duration = .seconds(2)) {
        self.init(backend, timeout: timeout, id: nil)
    }

    /// - Parameter id: The identity under which suites share the core.
    private init(_ backend: any DefaultsBackend, timeout: Duration, id: CoreID?) {
        self.id = id
        self.backend = backend as? any SystemBackend ?? ForeignBackend(backend)
        settingsFile = backend as? any SettingsFileBackend
        self.timeout = timeout
        writeOncePerKind = Self.writingOncePerKind(place: backend.location)
        state = Locked(State(onFailure: writeOncePerKind))
        locks = Locks(turns: turns, state: state)
        Forks.hold(locks, .suite)
        self.backend.attach { [weak self] error in
            // The core in use, which is another one if two threads made a core for this backend at
            // the same time.
            let core = id.flatMap(Self.inUse) ?? self
            core?.withObservers { $0.note(error) }
            core?.deliver()
        }
    }

    // Observers retain the suite; Observation tracking does not. The backend and its watch may
    // outlive the suite: another suite may have begun one meanwhile.
    deinit {
        Forks.release(locks)
        for slot in withObservers({ $0.allTracked }) { followKeys(of: slot, false) }
        if let id { coresInUse.withLock { $0.remove(self, id) } }
    }

    /// Runs `body` with the lock of the state held.
    func withObservers<Result>(_ body: (inout Observers) -> Result) -> Result {
        state.withLock { body(&$0.observers) }
    }

    var onFailure: @Sendable (DefaultsError) -> Void {
        get { state.withLock { $0.onFailure } }
        set {
            // The old one ends after the lock: what it holds may read the suite in its last breath.
            let old = state.withLock { state in
                defer { state.onFailure = newValue }
                return state.onFailure
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Hands a failure that no caller can be told of to the failure handler; one that the handler
    /// itself meets is written.
    func report(_ error: DefaultsError) {
        guard FailureHandling.isUnderWay?.withLock({ $0 }) != true else { return writeOncePerKind(error) }
        // A handler may write, and other writers do not wait for it.
        guard !AfterUnlock.holdsLock else { return AfterUnlock.run { [self] in report(error) } }
        let handler = onFailure
        let isUnderWay = Locked(true)
        // A task that the handler starts inherits this, and lives on when the handler has ended.
        defer { isUnderWay.withLock { $0 = false } }
        FailureHandling.$isUnderWay.withValue(isUnderWay) { handler(error) }
    }

    /// The default handler: at most one line per suite and kind, so that a setting read in a loop
    /// does not flood a log.
    private static func writingOncePerKind(place: String?) -> @Sendable (DefaultsError) -> Void {
        let written = Locked<Set<DefaultsError.Kind>>([])
        return { error in
            guard written.withLockIfFree({ $0.insert(error.kind).inserted }) == true else { return }
            writeToLog(
                error.kind.description,
                line: "TypedDefaults\(place.map { " (\($0))" } ?? ""): \(error)"
                    + " [logged once; DefaultsSuite.onFailure receives every error]")
        }
    }
}

/// Whether a failure handler is running, so that a handler that fails does not call itself without
/// end.
private enum FailureHandling {
    @TaskLocal static var isUnderWay: Locked<Bool>?
}

extension SuiteCore {
    /// The one slot for values of that type and conversion under that key.
    ///
    /// - Parameters:
    ///   - formerKeys: The names that the key had before, newest first. See ``Slot/formerKeys``.
    ///   - declaration: What is said of the key where the slot is asked for; nil if nothing is.
    ///   - isDeclaring: Whether those who observe what is declared hear of the key from now on.
    func slot<Value>(
        forKey key: String, _ conversion: Conversion<Value>, formerKeys: [String] = [],
        declaredBy declaration: (any AnyDeclaration)? = nil, isDeclaring: Bool = true
    ) -> Slot {
        let (known, isNews, isNew) = state.withLock { state -> (Slot?, Bool, Bool) in
            guard let known = state.keys[ByteString(key)] else { return (nil, declaration != nil, isDeclaring) }
            let isNews = declaration != nil && declaration !== known.declaration && !known.isInConflict
            let isNew = isDeclaring && !known.isDeclared
            let form = conversion.form
            let slot = known.slots.first { $0.form == form && $0.formerKeys == formerKeys }
            return (slot, isNews, isNew)
        }
        if let declaration, isNews { note(declaration, of: key) }
        let slot = known ?? makeSlot(forKey: key, conversion, formerKeys)
        if isNew { state.withLock { $0.entry(key).isDeclared = true } }
        if isNew || (known == nil && !formerKeys.isEmpty) { noteDeclaration(of: key) }
        return slot
    }

    /// Declares a key, as a store for it does, but without a slot.
    func declare(_ declaration: any AnyDeclaration, of key: String) {
        let (isKnown, isNew) = state.withLock { state -> (Bool, Bool) in
            let known = state.keys[ByteString(key)]
            return (known?.declaration === declaration || known?.isInConflict == true, known?.isDeclared != true)
        }
        // To look at a stored value as it is declares nothing.
        guard !isKnown || isNew, declaration.content.kind != .propertyList else { return }
        if isNew { state.withLock { $0.entry(key).isDeclared = true } }
        if !isKnown { note(declaration, of: key) }
        if isNew { noteDeclaration(of: key) }
    }

    /// Remembers a declaration; of one that contradicts another the failure handler hears, once for
    /// each key.
    func note(_ declaration: any AnyDeclaration, of key: String) {
        // Asked outside the lock: conversions are not called under it.
        let content = declaration.content
        // Release the old declaration after unlocking: its default may be an object of the program.
        let (conflict, old) = state.withLock { state -> (DefaultsError?, (any AnyDeclaration)?) in
            let known = state.entry(key)
            let old = known.declaration
            known.declaration = declaration
            let conflict = known.declared.flatMap { content.conflict(with: $0, key: key) }
            guard let conflict, !known.isInConflict else {
                // The first one may have said nothing of a default.
                if known.declared.flatMap(\.defaultValue) == nil { known.declared = content }
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
        // Made outside the lock: conversions are not called under it.
        var argument = ([key] + formerKeys).lazy.compactMap { [backend] in backend.launchArgument(forKey: $0) }.first
        var unreadable: DefaultsError?
        if let given = argument {
            do throws(DefaultsError) {
                _ = try conversion.decode(given, true)
            } catch {
                argument = nil
                unreadable = DefaultsError(
                    .unreadable, key: key, type: "\(Value.self)",
                    reason: "the launch argument is not of this type and is passed over")
            }
        }
        let made = Slot(
            key, conversion, formerKeys: formerKeys, launchArgument: argument, isArgumentRefused: unreadable != nil,
            location: backend.location)
        let (slot, unused) = state.withLock { state in
            if let slot = state.slot(key, conversion.form, formerKeys: formerKeys) { return (slot, []) }
            return (made, state.add(made))
        }
        withExtendedLifetime(unused) {}
        if slot === made, let unreadable { report(unreadable) }
        return slot
    }

    /// From now on no slot returns a kept value before it has asked which suite counts.
    func bypassKeptValues() {
        state.withLock { state in
            guard !state.isBypassed else { return }
            state.isBypassed = true
            for key in state.keys.values { for slot in key.slots { slot.bypassKeptValues() } }
        }
    }

    /// The keys that stores, wrappers and the like were made for.
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

    /// Makes the slots forget what others changed since the last look.
    ///
    /// - Returns: The generation up to which what slots know is right; nil if that cannot be known.
    func catchUp() throws(DefaultsError) -> UInt64? {
        while let now = backend.generation {
            let seen = state.withLock { $0.generation }
            guard now != seen else { return seen }
            let (keys, generation) = try backend.changes(since: seen ?? 0)
            let isCaughtUp = state.withLock { state in
                // Another thread was faster, but may have looked before the change that this one
                // saw: look again.
                guard state.generation == seen else { return false }
                state.generation = generation
                let changed = if let keys { state.slots(of: keys) } else { state.keys.values.flatMap(\.slots) }
                for slot in changed { slot.forget() }
                // Under the same lock, so that no thread finds the generation new and the slots
                // undoubted.
                state.observers.noteChange(of: changed, depth: ChangeRow.depth + 1)
                state.observers.doubt(changed)
                state.observers.doubt(keys)
                return true
            }
            if isCaughtUp { return generation }
        }
        return nil
    }
}

extension SuiteCore {
    /// Waits for the caller's turn among the writers of all processes, and processes external
    /// changes.
    ///
    /// Balance each call that returns with ``endWrite()``.
    func beginWrite() throws(DefaultsError) {
        try checkDepth()
        do throws(RecursionCheckingLock.AcquireError) {
            try turns.acquire(timeout: timeout)
        } catch {
            switch error {
            case .heldByCaller:
                throw DefaultsError(.nestedWrite, reason: "a suite cannot be written from inside its own update")
            case .timedOut:
                throw DefaultsError(.timedOut, reason: "another writer held the suite for more than \(timeout)")
            }
        }
        AfterUnlock.didLock()
        do throws(DefaultsError) {
            let generation = try beginBackendWrite()
            // Mostly no other process has written in between.
            if let generation, generation == write.generation { return }
            do throws(DefaultsError) {
                try catchUpInWrite()
            } catch {
                backend.endWrite()
                throw error
            }
        } catch {
            endTurn()
            throw error
        }
    }

    private func beginBackendWrite() throws(DefaultsError) -> UInt64? {
        if let settingsFile { return try settingsFile.beginWriteReturningGeneration() }
        try backend.beginWrite()
        return backend.generation
    }

    /// Processes external changes, between ``beginWrite()`` and ``endWrite()``.
    func catchUpInWrite() throws(DefaultsError) {
        write.generation = try catchUpInTurn()
        write.isDeliveryDue = true
        announceNews(hasGeneration: write.generation != nil)
    }

    /// Processes external changes if there are any, between ``beginWrite()`` and ``endWrite()``.
    func catchUpIfNeeded() throws(DefaultsError) {
        guard let generation = backend.generation, generation != write.generation else { return }
        try catchUpInWrite()
    }

    /// Ends the caller's turn.
    ///
    /// - Returns: Whether the caller must call ``deliver()``.
    @discardableResult
    func endWrite() -> Bool {
        backend.endWrite()
        return endTurn()
    }

    /// Flushes what was written if the suite wants each change to survive a power failure.
    ///
    /// Called after the turn, so that several writers share one flush.
    func flushIfImmediate() throws(DefaultsError) {
        if backend.synchronizationDelay == .zero { try backend.synchronize() }
    }

    /// What readers get after a commit, where only the backend can tell.
    struct ReadableValues {
        var values: [(key: String, value: PropertyList?)]
        /// The values of slots with former keys, unless they cannot be read.
        var former: [(slot: Slot, value: PropertyList?)] = []
    }

    private func readableValues(
        after edits: [(key: String, value: PropertyList?)], _ slots: [Slot]
    ) -> ReadableValues {
        var readable = ReadableValues(values: edits)
        if backend.hasFallbackValues {
            // The value of a key that was removed may be a fallback value. Its readers report why
            // it cannot be read.
            for index in edits.indices where edits[index].value == nil {
                readable.values[index].value = (try? backend.value(forKey: edits[index].key)) ?? nil
            }
        }
        for slot in slots where !slot.formerKeys.isEmpty {
            // If this fails, the slot is read again later.
            if let value = try? storedValue(of: slot).value { readable.former.append((slot, value)) }
        }
        return readable
    }

    /// Runs `body` alone among the writers of the suite, then flushes if the suite is immediate,
    /// and notifies observers.
    func withWriteAccess(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
        // Even after a failure there may be external changes.
        defer { deliver() }
        try beginWrite()
        do {
            defer { endWrite() }
            try body()
        }
        try flushIfImmediate()
    }

    /// Releases the lock of the writers and does what was requested meanwhile.
    ///
    /// - Returns: Whether the caller must call ``deliver()``.
    @discardableResult
    func endTurn() -> Bool {
        let isDeliveryDue = write.isDeliveryDue
        write.isDeliveryDue = false
        let isLookDue = turns.release()
        if isLookDue { look() }
        AfterUnlock.didUnlock()
        return isDeliveryDue || isLookDue
    }

    /// Commits edits, between ``beginWrite()`` and ``endWrite()``.
    ///
    /// The slots of the keys forget before and are settled after: in between every reader asks the
    /// backend, for which the commit is one event.
    ///
    /// - Parameters:
    ///   - writer: The slot that the first edit was made through, which keeps the new value.
    ///   - hasBegun: Whether the commit has begun for this slot; see ``Slot/beginCommit(of:at:)``.
    func commit(
        _ edits: [(key: String, value: PropertyList?)], by writer: Slot? = nil, hasBegun: Bool = false
    ) throws(DefaultsError) {
        let observed = state.withLock { state -> [Slot]? in
            let slots = state.slots(of: edits.lazy.map(\.key))
            for slot in slots where slot !== writer || !hasBegun { slot.unsettle() }
            state.commit = (edits, slots)
            return state.observers.isEmpty ? nil : slots
        }
        var failure: DefaultsError?
        do throws(DefaultsError) { try backend.commit(edits) } catch { failure = error }
        let delay = failure == nil ? backend.synchronizationDelay : nil
        let process = Forks.count
        if failure == nil, settingsFile == nil { write.generation = backend.generation }
        // Read outside the lock, and before another thread can write.
        let readable = failure == nil ? observed.map { readableValues(after: edits, $0) } : nil
        let (isDue, isStale, old) = state.withLock { state -> (Bool, Bool, Slot.Replaced?) in
            let slots = state.commit.slots
            state.commit = ([], [])
            var old: Slot.Replaced?
            for slot in slots {
                if slot === writer, failure == nil {
                    old = slot.keepOwn(edits[0].value, at: write.generation)
                } else {
                    slot.settle()
                }
            }
            guard failure == nil else { return (false, false, old) }
            if settingsFile == nil { state.generation = write.generation }
            state.record(edits, of: slots, readable, hasFallbackValues: backend.hasFallbackValues)
            if !state.observers.queue.isEmpty { write.isDeliveryDue = true }
            let isDue = state.synchronizingProcess != process && delay ?? .zero > .zero
            if isDue { state.synchronizingProcess = process }
            return (isDue, state.observers.hasDoubt, old)
        }
        writer?.release(old)
        if let failure { throw failure }
        if isStale { announceNews(hasGeneration: write.generation != nil) }
        if isDue, let delay {
            // The work retains the suite, so that the value is flushed even if no other code does.
            DeferredWork.schedule(for: ObjectIdentifier(self), after: delay) { [self] in
                state.withLock { $0.synchronizingProcess = nil }
                do throws(DefaultsError) { try backend.synchronize() } catch { report(error) }
            }
        }
    }
}

/// The cores in use, so that suites of one name or backend share one core.
private let coresInUse = Forks.holding(Locked(CoresInUse()), .suites)
private struct CoresInUse {
    private struct Entry {
        weak var core: SuiteCore?
        // Tells entries apart without retaining the core: releasing it again could run its deinit
        // under the lock.
        let object: ObjectIdentifier
    }
    private var entries: [CoreID: Entry] = [:]

    var count: Int { entries.count }

    subscript(id: CoreID) -> SuiteCore? { entries[id]?.core }

    mutating func insert(_ core: SuiteCore, _ id: CoreID) {
        entries[id] = Entry(core: core, object: ObjectIdentifier(core))
    }

    /// Called from the core's deinit. Another core may have taken its place.
    mutating func remove(_ core: SuiteCore, _ id: CoreID) {
        if entries[id]?.object == ObjectIdentifier(core) { entries[id] = nil }
    }
}

/// What makes two suites one: the bytes of a path or name, or an object.
private struct CoreID: Hashable, @unchecked Sendable {
    // Safe: made of a `Sendable` value only.
    private let value: AnyHashable
    init(_ value: some Hashable & Sendable) { self.value = value }
}

extension SuiteCore {
    /// Returns the core in use under that identity, or a new one on the backend that `makeBackend`
    /// returns.
    ///
    /// The backend is made and attached under no lock, so it may create suites. If two threads do
    /// so at the same time, both get the core of the thread that is done first, and the other core
    /// is released unused.
    static func shared<Failure: Error>(
        id: some Hashable & Sendable, _ makeBackend: () throws(Failure) -> any DefaultsBackend
    ) throws(Failure) -> SuiteCore {
        let id = CoreID(id)
        if let core = inUse(id) { return core }
        let made = SuiteCore(try makeBackend(), timeout: .seconds(2), id: id)
        return coresInUse.withLock { cores in
            if let core = cores[id] { return core }
            cores.insert(made, id)
            return made
        }
    }

    private static func inUse(_ id: CoreID) -> SuiteCore? { coresInUse.withLock { $0[id] } }

    /// How many identities have a core.
    static var countInUse: Int { coresInUse.withLock { $0.count } }
}

extension SuiteCore: CustomReflectable {
    /// Empty: what is stored never shows in a `dump`.
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension SuiteCore {
    /// The suite's locks while the process is forked, in the order in which they are taken.
    private final class Locks: ForkLock {
        let turns: RecursionCheckingLock
        let state: Locked<State>

        init(turns: RecursionCheckingLock, state: Locked<State>) { (self.turns, self.state) = (turns, state) }

        /// No slot is added or removed while the state is locked.
        private func forEachSlot(_ body: (Slot) -> Void) {
            state.withHeldLock { state in
                for key in state.keys.values { for slot in key.slots { body(slot) } }
            }
        }

        func lock() {
            turns.lock()
            state.lock()
            forEachSlot { $0.lock() }
        }

        func unlock() {
            forEachSlot { $0.unlock() }
            state.unlock()
            turns.unlock()
        }

        /// Ends what other threads of the parent were at: commits, deliveries, and the background
        /// work.
        func unlockInChild() {
            forEachSlot { $0.unlockInChild() }
            state.withHeldLock { state in
                state.observers.leaveParent()
                state.commit = ([], [])
                state.synchronizingProcess = nil
            }
            state.unlock()
            turns.unlockInChild()
        }
    }
}
