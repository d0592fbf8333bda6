import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    import Dispatch

    /// The committed edits of a suite that are not in `UserDefaults` yet; see
    /// UserDefaultsBackend+Edits.swift.
    struct PendingEdits {
        struct Edit {
            /// The new value; `nil` to remove the key.
            let value: PropertyList?
            /// Counts the commits of the suite.
            let number: Int
            /// The thread that committed it.
            let thread = CurrentThread.id
            /// See *Cycles* in Core/Observing.swift.
            let depth = NotificationDepth.current + 1
            /// Keeps the suite in use until the edit is set, because a new suite would not know it.
            let suite: SuiteCore?
        }

        /// A call of `UserDefaults.set`.
        struct Call {
            let edit: Edit
            /// The thread that makes the call.
            let thread: UInt
            /// The object that the domain had before the call. Until it is known, the call has not
            /// begun.
            // Safe: an object of a property list, which never changes.
            var before: Unchecked<Any?>?
        }

        struct Entry {
            var newest: Edit
            /// The number of the oldest edit that is not in `UserDefaults`.
            var oldest: Int
            var call: Call?
            /// Whether `UserDefaults` has reported a change of the key since the entry was added.
            var hasChanged = false
        }

        private(set) var entries: [ByteString: Entry] = [:]
        /// The number of commits so far.
        private(set) var count = 0
        /// Signaled when a call has ended.
        private var waiting: [DispatchSemaphore] = []

        /// Adds the edits of a commit, in place of older ones of their keys.
        mutating func add(_ edits: [(key: String, value: PropertyList?)], of suite: SuiteCore?) {
            count += 1
            for (key, value) in edits {
                let edit = Edit(value: value, number: count, suite: suite)
                entries[ByteString(key), default: Entry(newest: edit, oldest: count)].newest = edit
            }
        }

        enum Next {
            case call(Edit)
            /// A thread of the library must make the other calls.
            case handOver
            /// There is none, or another thread makes it.
            case nothing
        }

        /// Begins the next call for a key. A thread sets its own edits, and one edit of another
        /// thread: the writers of a key do not keep it forever.
        ///
        /// - Parameter last: The last edit of another thread that this thread has set; `nil` if
        ///   there is none, or if it is a thread of the library.
        mutating func beginCall(_ key: ByteString, after last: Edit?) -> Next {
            guard let edit = entries[key]?.newest, entries[key]?.call == nil else { return .nothing }
            guard last == nil || edit.thread == CurrentThread.id else { return .handOver }
            entries[key]?.call = Call(edit: edit, thread: CurrentThread.id)
            return .call(edit)
        }

        mutating func setObjectBeforeCall(_ object: Unchecked<Any?>, of key: ByteString) {
            entries[key]?.call?.before = object
        }

        /// Ends a call.
        ///
        /// - Returns: Whether `UserDefaults` has reported a change that may be one by other code;
        ///   `nil` if an edit waits.
        mutating func endCall(_ key: ByteString) -> Bool? {
            for semaphore in exchange(&waiting, with: []) { semaphore.signal() }
            guard let entry = entries[key], let call = entry.call else { return nil }
            guard entry.newest.number != call.edit.number else {
                entries[key] = nil
                return entry.hasChanged
            }
            entries[key]?.oldest = entry.newest.number
            entries[key]?.call = nil
            return nil
        }

        /// Notes that `UserDefaults` has reported a change of a key.
        ///
        /// - Returns: Whether this thread calls `set` for the key.
        mutating func noteChange(_ key: ByteString) -> Bool {
            entries[key]?.hasChanged = true
            return entries[key]?.call?.thread == CurrentThread.id
        }

        /// Whether this thread calls `set`, which has called an observer.
        var isCalling: Bool { entries.values.contains { $0.call?.thread == CurrentThread.id } }

        /// Returns what to wait for until the edits of the first commits are in `UserDefaults`;
        /// `nil` if they are.
        mutating func semaphore(upTo number: Int) -> DispatchSemaphore? {
            guard entries.values.contains(where: { $0.oldest <= number }) else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            waiting.append(semaphore)
            return semaphore
        }
    }
#endif
