import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    // From a commit to `UserDefaults`
    // ===============================
    //
    // `UserDefaults.set` calls observers of the program before it returns. Some of them wait for
    // the main thread, such as an observer of `didChangeNotification` on the main queue, or for the
    // lock of SwiftUI, which the main thread holds while it draws. If the writer held a lock, and
    // the main thread waited for that lock, neither would continue. So a commit has two parts:
    //
    // 1. `commit` adds its edits to the pending ones, while the suite holds the lock of the
    //    writers. From then on, reads return them. The order of the commits is decided.
    // 2. After the thread has released its last lock, `applyEdits` calls `set` for each key.
    //
    // One thread at a time calls `set` for a key. If another thread is doing that, a writer leaves
    // its edit there and returns. The thread that is busy sets the newest edit after its own.
    //
    //     writer A                       pending   UserDefaults   writer B, same key
    //     -----------------------------  --------  -------------  -------------------------
    //     commit: 1                      1         0
    //     unlocks
    //     set(1) calls an observer,      1         1
    //       which waits for B            2         1              commit: 2, unlocks, returns
    //       and returns                  2         1
    //     set(2)                         –         2
    //
    // Writes by other code. While an edit waits, it counts as newer than what other code writes.
    // While `set` runs, `UserDefaults` may have the new value, or already a newer one by other
    // code: reads return what it has unless that is what it had before the call. A change that is
    // reported during the call may be its own, so it is reported again when the edit is no longer
    // pending.
    //
    // Deliveries of the suite wait until the thread has returned from `set`, which counts as a lock
    // that it holds.
    extension UserDefaultsBackend {
        /// Makes edits visible to readers, and sets them when this thread holds no lock.
        func publish(_ new: [(key: String, value: PropertyList?)]) {
            let suite = id.flatMap(SuiteCore.inUse)
            edits.withLock { $0.add(new, of: suite) }
            let keys = new.map { ByteString($0.key) }
            guard CurrentThread.holdsLock else { return applyEdits(of: keys) }
            CurrentThread.afterUnlock { [self] in applyEdits(of: keys) }
        }

        /// Sets the pending edits of keys, unless another thread does.
        private func applyEdits(of keys: [ByteString], inLibrary: Bool = false) {
            CurrentThread.didLock()
            defer { CurrentThread.didUnlock() }
            for key in keys {
                var last: PendingEdits.Edit?
                loop: while true {
                    switch edits.withLock({ $0.beginCall(key, after: last) }) {
                    case .nothing: break loop
                    case .handOver:
                        let isStarted = startThread { [self] in applyEdits(of: [key], inLibrary: true) }
                        if isStarted { break loop } else { last = nil }
                    case .call(let edit):
                        // The suite may be released with its last edit, but not under the lock.
                        withExtendedLifetime(edit) { set(edit, key) }
                        if !inLibrary, edit.thread != CurrentThread.id { last = edit }
                    }
                }
            }
            firstUnlock?.createMarkers(in: defaults)
        }

        private func set(_ edit: PendingEdits.Edit, _ key: ByteString) {
            let name = key.string
            let before = Unchecked(object(forKey: name))
            edits.withLock { $0.setObjectBeforeCall(before, of: key) }
            NotificationDepth.calling(at: edit.depth) {
                if let value = edit.value {
                    defaults.set(value.object, forKey: name)
                } else {
                    defaults.removeObject(forKey: name)
                }
            }
            guard let hasChanged = edits.withLock({ $0.endCall(key) }) else { return }
            if hasChanged || !UserDefaultsObserver.canObserve(name) { report(.changed(keys: [name])) }
        }

        /// Returns the edit of a key that is not in `UserDefaults` yet; `nil` if there is none.
        func pendingEdit(_ key: String) -> PendingEdits.Edit? {
            guard let entry = edits.withLock({ $0.entries[ByteString(key)] }) else { return nil }
            guard let call = entry.call, call.edit.number == entry.newest.number, let before = call.before,
                !Self.isSame(before.value, object(forKey: key))
            else { return entry.newest }
            return nil
        }

        private static func isSame(_ one: Any?, _ other: Any?) -> Bool {
            guard let one, let other else { return one == nil && other == nil }
            return (try? PropertyList(one)) == (try? PropertyList(other))
        }

        /// Waits until all edits of the commits so far are in `UserDefaults`.
        func awaitEdits() throws(DefaultsError) {
            let (keys, last, isCalling) = edits.withLock { (Array($0.entries.keys), $0.count, $0.isCalling) }
            guard !keys.isEmpty else { return }
            guard !isCalling else {
                throw DefaultsError(
                    .nestedWrite,
                    reason: "an observer of UserDefaults called synchronize() during the write that triggered it")
            }
            applyEdits(of: keys)
            let deadline = DispatchTime.now() + traits.writeTimeout / .seconds(1)
            while let semaphore = edits.withLock({ $0.semaphore(upTo: last) }) {
                guard semaphore.wait(timeout: deadline) == .success else {
                    throw DefaultsError(
                        .timedOut,
                        reason: "an observer of UserDefaults has blocked a writer for over \(traits.writeTimeout)")
                }
            }
        }
    }
#endif
