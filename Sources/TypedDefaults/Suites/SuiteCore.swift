import SettingsFile

// The core of a suite
// ===================
//
// All handles on one suite share a `SuiteCore`. It owns the backend, one `Slot` for each pair of
// key and type, and the observers.
//
// A write
// -------
// `Setting.put` encodes the value first, under no lock. A value that is stored already, as far as a
// read would find, ends the write here: it takes effect before any write that is under way. Then:
//
// 1. `beginWrite` acquires `writerLock`, the lock of the writers of this process, and calls the
//    backend's `beginWrite`, which waits for other processes. If the generation of the backend is
//    not the one of the last write, the core catches up with external changes and records them for
//    observers.
// 2. `replace` compares the new value with the stored one. An equal value ends the write here. A
//    stored value that the type cannot read is kept under another key, in the same commit.
// 3. `commit` makes the slots of all edited keys forget their cached values. Until the commit has
//    ended, they cache nothing, so every reader asks the backend, where the commit is atomic. After
//    the backend has committed, one access to the state ends the commit: the slot that was written
//    caches the new value, and the observers' events are recorded.
// 4. `endWrite` lets other processes and threads write. It processes external changes if another
//    thread requested that in the meantime.
// 5. An immediate suite flushes; several writers share one flush. `deliver` notifies observers.
//
// `update` does the same, and reads the stored value and calls its closure between 1 and 2.
//
// Slots and generations
// ---------------------
// A slot caches the stored value and its decoded value. The cache is valid while the slot's
// generation is the backend's. The generation of a backend grows when something may have changed
// other than by a commit of this suite. `catchUp` then asks which keys changed, and makes their
// slots forget their values. A backend without a generation is read each time. If a slot forgets
// its value during a read, the result of the read is not cached, because the version of the slot
// has changed.
//
// Slots that only `suite[key]` uses are removed when there are many of them, and created again when
// they are needed.
//
// Layers and former keys
// ----------------------
// A slot keeps the value that a layer above the stored values has for it, such as a launch
// argument, in the form in which it would be stored (`Slot.layeredValue`). It gets the value when
// it is created and when `DefaultsSuite.layers` is set. `get` returns it instead of the stored
// value, but `update` uses the stored value, so that an argument never becomes permanent.
//
// A declaration can list former keys. Without a value under the key, the value under the first
// former key that has one is read. The first write moves it: the new value and the removals are one
// commit. An edit of a former key therefore also affects the slots of its successors
// (`Key.successors`).
//
// The locks
// ---------
// A thread that holds a lock acquires only locks below it in this table. Only the first four are
// held while foreign code runs, such as the closure of an `update`.
//
// | lock                    | protects                             | acquired while it is held   |
// |-------------------------|--------------------------------------|-----------------------------|
// | `DeferredWork.runLock`  | background flushes, until exit       | everything below            |
// | `Relay.writerLock`      | writes through an `AnyStore`         | everything below            |
// | `SuiteCore.writerLock`  | writes of a suite, `SuiteCore.write` | all below, and other suites |
// | file lock (`flock`)     | the settings file among processes    | everything below            |
// | `coresInUse`            | the suites in use                    | none                        |
// | `SuiteCore.state`       | keys, declarations, observers        | `Slot.cache`                |
// | `Slot.cache`            | the cache of a key, `ChangedValue`   | none                        |
// | `SettingsFile.flushing` | callers that wait for a flush        | none                        |
// | `SettingsFile.state`    | the log and what changed             | the next two, `Descriptors` |
// | `SettingsFile.snapshot` | what readers of the file need        | none                        |
// | `FileLog.lookup`        | the index while it changes           | none                        |
// | `Forks.registry`        | the locks to hold during a fork      | none                        |
// | `Descriptors.gate`      | calls that begin to open descriptors | `Descriptors.table`         |
// | `Descriptors.table`     | the descriptors that are open        | none                        |
// | other `Locked` values   | such as those of `MemoryBackend`     | none                        |
//
// `DefaultImplementation.known` and the default failure handler are only acquired if they are free.
//
// A fork acquires `ForkOrder`'s groups in order: the table of suites, the locks of each suite
// (`writerLock`, `state`, its slots), the locks of each backend (`flushing`, `state`, `snapshot`),
// the leaves, and at last the registry and the descriptors. In the child each lock first ends what
// other threads of the parent had begun: `unlockInChild`.

/// The state that all handles on one suite share: the backend, the lock of its writers, the cached
/// values, and the observers.
final class SuiteCore: Sendable {
    let backend: any SystemBackend
    let writerLock = RecursionCheckingLock()
    private let id: CoreID?
    /// How long a writer waits for other writers before it throws ``DefaultsError/Kind/timedOut``.
    let timeout: Duration
    /// The backend, if it is a settings file.
    let settingsFile: (any SettingsFileBackend)?

    /// The state of the current writer.
    struct Write {
        /// The generation of the backend, which the suite has caught up with.
        var generation: UInt64?
        /// Whether there is anything to deliver.
        var isDeliveryDue = false
    }
    // Safe: accessed only by the thread that holds `writerLock`.
    @exclusivity(unchecked)
    nonisolated(unsafe) var write = Write()

    let state: Locked<State>
    /// What stands in for the standard suite where ``DefaultsSuite/withStandard(_:operation:)``
    /// does not apply; `nil` in all other suites.
    // Only the standard suite has this lock, so that the others acquire none for it.
    let processStandIn: Locked<StandInSuite.OfProcess?>?
    private let writeOncePerKind: @Sendable (DefaultsError) -> Void
    private let locks: Locks

    /// Creates a core that no other suite shares.
    convenience init(_ backend: any SystemBackend, timeout: Duration = .seconds(2)) {
        self.init(backend, timeout: timeout, id: nil)
    }

    /// - Parameters:
    ///   - id: The identity under which suites share the core.
    ///   - isStandard: Whether this is the core of the standard suite.
    init(_ backend: any SystemBackend, timeout: Duration, id: CoreID?, isStandard: Bool = false) {
        self.id = id
        processStandIn = isStandard ? Forks.holding(Locked(nil)) : nil
        self.backend = backend
        settingsFile = backend.settingsFile
        self.timeout = timeout
        writeOncePerKind = Self.writingOncePerKind(place: backend.location)
        state = Locked(State(layers: Layers(self.backend.layers), onFailure: writeOncePerKind))
        locks = Locks(writerLock: writerLock, state: state)
        Forks.hold(locks, .suite)
        self.backend.attach { [weak self] error in
            // The core in use is another one if two threads created a core for this backend at the
            // same time.
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
        if let id { Self.forget(self, id) }
    }

    /// Runs `body` with the lock of the state held.
    func withObservers<Result>(_ body: (inout Observers) -> Result) -> Result {
        state.withLock { body(&$0.observers) }
    }

    var onFailure: @Sendable (DefaultsError) -> Void {
        get { state.withLock { $0.onFailure } }
        set {
            // Release the old handler after unlocking: the deinit of a captured object may read the
            // suite.
            let old = state.withLock { state in
                defer { state.onFailure = newValue }
                return state.onFailure
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Calls the failure handler. A failure inside the handler is logged.
    func report(_ error: DefaultsError) {
        guard FailureHandling.isUnderWay?.withLock({ $0 }) != true else { return writeOncePerKind(error) }
        // Call the handler after the write, because it may write, and because other writers should
        // not wait for it.
        guard !AfterUnlock.holdsLock else { return AfterUnlock.run { [self] in report(error) } }
        let handler = onFailure
        let isUnderWay = Locked(true)
        // A task that the handler starts inherits this value and may outlive the handler.
        defer { isUnderWay.withLock { $0 = false } }
        FailureHandling.$isUnderWay.withValue(isUnderWay) { handler(error) }
    }

    /// The default handler: at most one line per suite and kind, so that a setting read in a loop
    /// does not flood a log.
    private static func writingOncePerKind(place: String?) -> @Sendable (DefaultsError) -> Void {
        // Not a set, because the first set of a type searches all conformances of the program.
        let written = Locked<[DefaultsError.Kind]>([])
        return { error in
            let isNew = written.withLockIfFree { written in
                guard !written.contains(error.kind) else { return false }
                written.append(error.kind)
                return true
            }
            guard isNew == true else { return }
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

extension SuiteCore: CustomReflectable {
    /// Empty, so that `dump` shows no stored value.
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension SuiteCore {
    /// Holds the suite's locks during a fork, in the order in which they are acquired.
    private final class Locks: ForkLock {
        let writerLock: RecursionCheckingLock
        let state: Locked<State>

        init(writerLock: RecursionCheckingLock, state: Locked<State>) {
            (self.writerLock, self.state) = (writerLock, state)
        }

        /// No slot is added or removed while the state is locked.
        private func forEachSlot(_ body: (Slot) -> Void) {
            state.withHeldLock { state in
                for key in state.keys.values { for slot in key.slots { body(slot) } }
            }
        }

        func lock() {
            writerLock.lock()
            state.lock()
            forEachSlot { $0.lock() }
        }

        func unlock() {
            forEachSlot { $0.unlock() }
            state.unlock()
            writerLock.unlock()
        }

        /// Ends what other threads of the parent were doing: commits, deliveries and background
        /// work.
        func unlockInChild() {
            forEachSlot { $0.unlockInChild() }
            state.withHeldLock { state in
                state.observers.leaveParent()
                state.commit = ([], [])
                state.commitVersion += state.commitVersion % 2
                state.synchronizingProcess = nil
            }
            state.unlock()
            writerLock.unlockInChild()
        }
    }
}
