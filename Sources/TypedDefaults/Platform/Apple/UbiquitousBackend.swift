import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    extension DefaultsSuite {
        /// Settings in iCloud's key-value store, on all devices of one person. *Not tested on Apple
        /// platforms.*
        ///
        /// ```swift
        /// let store = PersistentStore<CameraConfig>(in: .ubiquitous)
        /// ```
        ///
        /// A change takes effect immediately on the device that makes it, even without a network or
        /// an account. The system decides when other devices receive it. Conflicts are resolved
        /// separately for each key:
        ///
        /// - If two devices change a key, the later change wins.
        /// - When a device uses an account for the first time, the value in iCloud wins. If this
        ///   replaces a value that this process has set, the failure handler receives
        ///   ``DefaultsError/Kind/refused``. Keys that iCloud does not have keep their values.
        /// - When the account changes, all values of the new account replace those on the device.
        ///
        /// Values are never merged. Store values that must change together as one value, such as
        /// one config struct. Observers receive all of these as changes from
        /// ``ChangeOrigin/external``.
        ///
        /// A write that exceeds a limit of the system throws ``DefaultsError/Kind/refused`` and
        /// changes nothing. The limits are 64 bytes for a key, 1,024 keys, and 1,000,000 bytes for
        /// all values. If the devices together exceed a limit, the failure handler receives an
        /// error.
        ///
        /// The program needs the entitlement `com.apple.developer.ubiquity-kvstore-identifier`.
        /// Without it, the failure handler receives an error when the suite is created. If other
        /// code of the process writes to the store directly, reads return the new value, but
        /// observers are not called, because the system posts no notification.
        public static let ubiquitous = DefaultsSuite(backend: UbiquitousBackend())
    }

    /// Stores settings in iCloud's key-value store. See ``DefaultsSuite/ubiquitous``.
    package final class UbiquitousBackend: DefaultsBackend {
        // Safe: documented as usable from any thread. `state` protects pairs of calls that belong
        // together.
        private let shared: Unchecked<NSUbiquitousKeyValueStore>
        private var store: NSUbiquitousKeyValueStore { shared.value }

        private struct State {
            var handler: @Sendable (BackendEvent) -> Void = { _ in }
            var observation: NotificationObservation?
            /// The keys that were set before the first notification from iCloud for this account.
            var unsyncedKeys: Set<ByteString>? = []
        }
        private let state = Locked(State())

        init(store: NSUbiquitousKeyValueStore = .default) { shared = Unchecked(store) }

        package func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
            guard let object = state.withLock({ _ in store.object(forKey: key) }) else { return nil }
            return try PropertyList(stored: object, forKey: key)
        }

        package func keys() -> [String] { state.withLock { _ in Array(store.dictionaryRepresentation.keys) } }

        /// Applies the edits. Nothing can prevent other devices from writing.
        package func commit(_ commit: BackendCommit) throws(DefaultsError) -> BackendCommit.Outcome {
            try state.withLock { state throws(DefaultsError) in
                try check(commit.edits)
                for edit in commit.edits {
                    store.set(edit.value?.object, forKey: edit.key)
                    state.unsyncedKeys?.insert(ByteString(edit.key))
                }
            }
            return .committed()
        }

        /// Throws if an edit exceeds a limit. The system terminates the program for a key that is
        /// too long, and silently drops values beyond its limits.
        private func check(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
            var contents = store.dictionaryRepresentation
            for edit in edits {
                contents[edit.key] = edit.value?.object
                guard edit.value != nil else { continue }
                guard edit.key.utf8.count <= traits.keyLimit else {
                    throw DefaultsError(.refused, key: edit.key, reason: "a key in iCloud is at most 64 bytes")
                }
                try PropertyList.check(edit)
            }
            // Never refuse an edit that only removes values.
            guard let grown = edits.first(where: { $0.value != nil }) else { return }
            guard contents.count <= Self.countLimit else {
                throw DefaultsError(.refused, key: grown.key, reason: "iCloud stores at most 1,024 keys")
            }
            // Keys do not count:
            // https://developer.apple.com/library/archive/documentation/General/Conceptual/iCloudDesignGuide/Chapters/DesigningForKey-ValueDataIniCloud.html
            guard let size = PropertyList.size(of: Array(contents.values)), size <= Self.sizeLimit else {
                throw DefaultsError(.refused, key: grown.key, reason: "iCloud stores at most 1 MB of values")
            }
        }

        /// The system writes its memory to disk at a time of its choosing, so a program that is
        /// terminated before then loses changes.
        // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore
        package let traits = BackendTraits(
            keyLimit: 64, synchronizationDelay: .milliseconds(300), reportsChanges: true)
        private static let countLimit = 1_024
        private static let sizeLimit = 1_000_000

        // External changes

        package func attach(_ handler: @escaping @Sendable (BackendEvent) -> Void) {
            let name = NSUbiquitousKeyValueStore.didChangeExternallyNotification
            let observation = NotificationObservation(name) { [weak self] notification in self?.handle(notification) }
            // Release the old values after unlocking, because a notification may be waiting for the
            // lock.
            let old = state.withLock { state in
                defer { (state.handler, state.observation) = (handler, observation) }
                return (state.handler, state.observation)
            }
            withExtendedLifetime(old) {}
            // The documentation requires registering for notifications before synchronizing.
            do throws(DefaultsError) { try synchronize() } catch { handler(.failed(error)) }
        }

        private func handle(_ notification: Notification) {
            guard notification.object as AnyObject? === store else { return }
            let reason = notification.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
            let keys = notification.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            let (handler, unsyncedKeys) = state.withLock { state in
                let unsyncedKeys = state.unsyncedKeys
                // After the first notification for an account, the device knows the values in
                // iCloud.
                if reason != NSUbiquitousKeyValueStoreQuotaViolationChange {
                    state.unsyncedKeys = reason == NSUbiquitousKeyValueStoreAccountChange ? [] : nil
                }
                return (state.handler, unsyncedKeys)
            }
            func report(_ key: String?, _ reason: String) {
                handler(.failed(DefaultsError(.refused, key: key, reason: reason)))
            }
            switch reason {
            case NSUbiquitousKeyValueStoreQuotaViolationChange:
                report(
                    keys?.first,
                    "the settings of all devices exceed the limits of iCloud; the change may exist on this device only")
            case NSUbiquitousKeyValueStoreInitialSyncChange:
                for key in keys ?? [] where unsyncedKeys?.contains(ByteString(key)) == true {
                    report(
                        key,
                        "iCloud already had a value for this key at the first synchronization; the local value was discarded"
                    )
                }
            default: break
            }
            // With another account, any key may be gone, whatever the list says.
            handler(.changed(keys: reason == NSUbiquitousKeyValueStoreAccountChange ? nil : keys))
        }

        package func synchronize() throws(DefaultsError) {
            guard !store.synchronize() else { return }
            throw DefaultsError(
                .unavailable,
                reason: "iCloud's key-value store cannot be synchronized; check the entitlement"
                    + " com.apple.developer.ubiquity-kvstore-identifier")
        }
    }

    extension UbiquitousBackend: CustomReflectable {
        /// Empty, so that `dump` shows no stored value.
        package var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
