#if canImport(Darwin) || canImport(AppleFoundation)
    public import TypedDefaults

    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    extension DefaultsSuite {
        /// Settings in iCloud's key-value store, on all devices of one person. *Not tested on Apple
        /// platforms.*
        ///
        /// - Important: This is experimental. It may change or be removed in a minor version.
        ///
        /// ```swift
        /// import TypedDefaultsCloud
        ///
        /// let store = PersistentStore<CameraConfig>(in: .ubiquitous)
        /// ```
        ///
        /// A change takes effect immediately on the device that makes it, even without a network or
        /// an account. iCloud brings it to the other devices at a time that the system chooses. It
        /// promises neither when, nor that a device sees each value of a key, nor that values of
        /// different keys arrive together. An `update` excludes only the other writers of its
        /// process. Conflicts are resolved separately for each key:
        ///
        /// - If two devices change a key, the later change wins.
        /// - When a device uses an account for the first time, the value in iCloud wins. If this
        ///   replaces a value that this process has set, the failure handler receives
        ///   `DefaultsError.Kind.refused`. Keys that iCloud does not have keep their values.
        /// - When the account changes, all values of the new account replace those on the device.
        ///
        /// Values are never merged. Store values that must change together as one value, such as
        /// one config struct. Observers receive all of these as changes from
        /// `ChangeOrigin.external`.
        ///
        /// A write that exceeds a limit of the system throws `DefaultsError.Kind.refused` and
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

    /// Stores settings in iCloud's key-value store. See `DefaultsSuite.ubiquitous`.
    // Safe: the store is documented as usable from any thread, and the lock protects the variables.
    final class UbiquitousBackend: DefaultsBackend, @unchecked Sendable {
        private let store: NSUbiquitousKeyValueStore
        /// Not held while the store is called: it may post a notification inside a call, or wait
        /// for a thread that does.
        private let lock = NSLock()
        private var handler: @Sendable (BackendEvent) -> Void = { _ in }
        /// The edits of a commit in progress, by the bytes of their keys. Readers take values from
        /// here until all of them are in the store.
        private var edits: [[UInt8]: PropertyList?] = [:]
        /// The keys that were set before the first notification from iCloud for this account, as
        /// bytes.
        private var unsyncedKeys: Set<[UInt8]>? = []
        private var observation: (any NSObjectProtocol)?

        init(store: NSUbiquitousKeyValueStore = .default) {
            self.store = store
            observation = NotificationCenter.default.addObserver(
                forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
            ) { [weak self] notification in self?.handle(notification) }
        }

        deinit { if let observation { NotificationCenter.default.removeObserver(observation) } }

        func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
            if let edit = lock.withLock({ edits[Array(key.utf8)] }) { return edit }
            guard let object = store.object(forKey: key) else { return nil }
            do throws(DefaultsError) { return try PropertyList(object) } catch {
                throw DefaultsError(
                    .unreadable, key: key, type: error.type, path: error.path,
                    reason: "the stored object is not a property list")
            }
        }

        func keys() -> [String] {
            let edits = lock.withLock { self.edits }
            return store.dictionaryRepresentation.keys.filter { edits[Array($0.utf8)] == nil }
                + edits.compactMap { $0.value == nil ? nil : String(decoding: $0.key, as: UTF8.self) }
        }

        /// Applies the edits. Nothing can prevent other devices from writing.
        func commit(_ commit: BackendCommit) throws(DefaultsError) -> BackendCommit.Outcome {
            try check(commit.edits)
            lock.withLock {
                for (key, value) in commit.edits {
                    edits[Array(key.utf8)] = .some(value)
                    unsyncedKeys?.insert(Array(key.utf8))
                }
            }
            defer { lock.withLock { edits = [:] } }
            for (key, value) in commit.edits { store.set(value?.object, forKey: key) }
            return .committed()
        }

        /// Throws if an edit exceeds a limit, or could not be stored exactly. The system terminates
        /// the program for a key that is too long, and silently drops values beyond its limits.
        private func check(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
            var contents = store.dictionaryRepresentation
            for (key, value) in edits {
                contents[key] = value?.object
                guard let value else { continue }
                guard key.utf8.count <= traits.keyLimit else {
                    throw DefaultsError(.refused, key: key, reason: "a key in iCloud is at most 64 bytes")
                }
                // Swift considers the composed and decomposed forms of `é` equal, so a dictionary
                // of the contents can hold only one of two such keys.
                guard key.precomposedStringWithCanonicalMapping.utf8.elementsEqual(key.utf8) else {
                    throw DefaultsError(.refused, key: key, reason: "a key in iCloud must be in composed form (NFC)")
                }
                guard !Self.hasOtherNaN(value) else {
                    throw DefaultsError(
                        .refused, key: key,
                        reason: "iCloud cannot store this NaN exactly: its sign and payload would be lost")
                }
            }
            // Never refuse an edit that only removes values.
            guard let grown = edits.first(where: { $0.value != nil }) else { return }
            guard contents.count <= Self.countLimit else {
                throw DefaultsError(.refused, key: grown.key, reason: "iCloud stores at most 1,024 keys")
            }
            // Keys do not count:
            // https://developer.apple.com/library/archive/documentation/General/Conceptual/iCloudDesignGuide/Chapters/DesigningForKey-ValueDataIniCloud.html
            let data = try? PropertyListSerialization.data(
                fromPropertyList: Array(contents.values), format: .binary, options: 0)
            guard let data, data.count <= Self.sizeLimit else {
                throw DefaultsError(.refused, key: grown.key, reason: "iCloud stores at most 1 MB of values")
            }
        }

        /// Returns whether there is a NaN that is not `Double.nan`, the only one that `CFNumber`
        /// has.
        private static func hasOtherNaN(_ value: PropertyList) -> Bool {
            switch value {
            case .double(let double): double.isNaN && double.bitPattern != Double.nan.bitPattern
            case .array(let elements): elements.contains(where: hasOtherNaN)
            case .dictionary(let entries): entries.values.contains(where: hasOtherNaN)
            default: false
            }
        }

        /// The system writes its memory to disk at a time of its choosing, so a program that is
        /// terminated before then loses changes.
        // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore
        let traits = BackendTraits(keyLimit: 64, synchronizationDelay: .milliseconds(300), reportsChanges: true)
        private static let countLimit = 1_024
        private static let sizeLimit = 1_000_000

        // External changes

        func attach(_ handler: @escaping @Sendable (BackendEvent) -> Void) {
            // Released after unlocking, because a handler may hold objects of the program.
            var old = handler
            lock.withLock { swap(&self.handler, &old) }
            // The documentation requires registering for notifications before synchronizing.
            do throws(DefaultsError) { try synchronize() } catch { handler(.failed(error)) }
        }

        private func handle(_ notification: Notification) {
            let reason = notification.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
            let keys = notification.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            let (handler, unsyncedKeys) = lock.withLock {
                let unsyncedKeys = self.unsyncedKeys
                // After the first notification for an account, the device knows the values in
                // iCloud.
                if reason != NSUbiquitousKeyValueStoreQuotaViolationChange {
                    self.unsyncedKeys = reason == NSUbiquitousKeyValueStoreAccountChange ? [] : nil
                }
                return (self.handler, unsyncedKeys)
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
                for key in keys ?? [] where unsyncedKeys?.contains(Array(key.utf8)) == true {
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

        func synchronize() throws(DefaultsError) {
            guard !store.synchronize() else { return }
            throw DefaultsError(
                .unavailable,
                reason: "iCloud's key-value store cannot be synchronized; check the entitlement"
                    + " com.apple.developer.ubiquity-kvstore-identifier")
        }
    }

    extension UbiquitousBackend: CustomReflectable {
        /// Empty, so that `dump` shows no stored value.
        var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
