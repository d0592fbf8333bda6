import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    extension DefaultsSuite {
        /// The settings that the program shares with itself on a person's other devices, in iCloud's key-value store.
        ///
        /// See ``UbiquitousBackend`` for what wins where two devices differ, and for how much fits.
        public static let ubiquitous = DefaultsSuite(backend: UbiquitousBackend())
    }

    /// Settings in iCloud's key-value store, on all devices of one person. *Not run on Apple platforms.*
    ///
    /// ```swift
    /// let store = PersistentStore<CameraConfig>(suite: .ubiquitous)
    /// ```
    ///
    /// A change is seen at once on the device that makes it, without a network or an account too, and on others when the system sees
    /// fit. What wins, for each key on its own:
    ///
    /// - Of changes on two devices the later one, whatever either device has shown meanwhile.
    /// - When a device meets an account for the first time, what iCloud has for the key. Of what this process had set before and lost by
    ///   that the failure handler hears, as ``DefaultsError/Kind/refused``; what was set under keys that iCloud does not know is kept.
    /// - When the account changes, all that the new one has; what is not in it is gone from the device.
    ///
    /// Nothing is merged: what must change together belongs in one value, such as one config struct. Observers hear of each of these as
    /// of changes from ``ChangeOrigin/another``.
    ///
    /// A write beyond what the system takes is ``DefaultsError/Kind/refused`` and changes nothing: a key of more than 64 bytes, more than
    /// 1 024 keys, or values of more than 1 000 000 bytes in all. If the devices together go beyond that, the failure handler hears of it.
    ///
    /// The program needs the entitlement `com.apple.developer.ubiquity-kvstore-identifier`; without it the failure handler is told when the
    /// suite is made. What other code of the process sets past the suite is read, but nobody is told of it: the system posts nothing.
    public final class UbiquitousBackend: DefaultsBackend {
        // Safe: documented as usable from any thread, and guarded by `state` where two calls belong together.
        private let shared: Unchecked<NSUbiquitousKeyValueStore>
        private var store: NSUbiquitousKeyValueStore { shared.value }

        private struct State {
            var news: (@Sendable ([String]?) -> Void)?
            var report: @Sendable (DefaultsError) -> Void = { _ in }
            var observation: NotificationObservation?
            /// The keys that were set before the account's iCloud was first heard of.
            var early: Set<ByteString>? = []
        }
        private let state = Locked(State())

        /// Creates a backend on the program's store. There is one such store, so rather use ``DefaultsSuite/ubiquitous``.
        public convenience init() { self.init(store: .default) }

        init(store: NSUbiquitousKeyValueStore) { shared = Unchecked(store) }

        public func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
            guard let object = state.withLock({ _ in store.object(forKey: key) }) else { return nil }
            do throws(DefaultsError) {
                return try PropertyList(object)
            } catch {
                throw DefaultsError(
                    .unreadable, key: key, type: error.type, path: error.path,
                    reason: "what is stored is no property list")
            }
        }

        public func keys() -> [String] { state.withLock { _ in Array(store.dictionaryRepresentation.keys) } }

        /// Runs `body`; what other devices write has no turns.
        public func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
            try state.withLock { state throws(DefaultsError) in
                try check(edits)
                for edit in edits {
                    store.set(edit.value?.object, forKey: edit.key)
                    state.early?.insert(ByteString(edit.key))
                }
            }
        }

        /// The system ends the program at a key that is too long, and drops what is too much without a word to the caller.
        private func check(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
            var contents = store.dictionaryRepresentation
            for edit in edits {
                contents[edit.key] = edit.value?.object
                guard edit.value != nil else { continue }
                guard edit.key.utf8.count <= Self.keyLimit else {
                    throw DefaultsError(.refused, key: edit.key, reason: "a key in iCloud has at most 64 bytes")
                }
                do throws(DefaultsError) {
                    try FoundationDomain.check(key: edit.key)
                    if let value = edit.value { try FoundationDomain.check(value) }
                } catch {
                    throw error.about(key: edit.key)
                }
            }
            // What makes room is never refused.
            guard let grown = edits.first(where: { $0.value != nil }) else { return }
            guard contents.count <= Self.countLimit else {
                throw DefaultsError(.refused, key: grown.key, reason: "iCloud takes at most 1 024 keys")
            }
            guard let size = Self.size(of: contents), size <= Self.sizeLimit else {
                throw DefaultsError(.refused, key: grown.key, reason: "iCloud takes at most 1 MB of values in all")
            }
        }

        // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore
        private static let keyLimit = 64
        private static let countLimit = 1_024
        private static let sizeLimit = 1_000_000

        /// Keys do not count: https://developer.apple.com/library/archive/documentation/General/Conceptual/iCloudDesignGuide/Chapters/DesigningForKey-ValueDataIniCloud.html
        private static func size(of contents: [String: Any]) -> Int? {
            // Nil for no property list, which could not be stored either.
            (try? PropertyListSerialization.data(
                fromPropertyList: Array(contents.values), format: .binary, options: 0))?.count
        }

        // News

        public var followsKeys: Bool { true }

        public func watch(_ news: (@Sendable (_ keys: [String]?) -> Void)?) { state.withLock { $0.news = news } }

        public func attach(report: @escaping @Sendable (DefaultsError) -> Void) {
            let name = NSUbiquitousKeyValueStore.didChangeExternallyNotification
            let observation = NotificationObservation(name) { [weak self] notification in self?.hear(notification) }
            // Release the old ones after unlocking: a notification may be waiting for the lock.
            let old = state.withLock { state in
                defer { (state.report, state.observation) = (report, observation) }
                return (state.report, state.observation)
            }
            withExtendedLifetime(old) {}
            // First listen, then fetch what iCloud has, is the documented order.
            do throws(DefaultsError) { try synchronize() } catch { report(error) }
        }

        private func hear(_ notification: Notification) {
            guard notification.object as AnyObject? === store else { return }
            let reason = notification.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
            let keys = notification.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            let (news, report, early) = state.withLock { state in
                let early = state.early
                // From the first news of an account on the device knows what iCloud has.
                if reason != NSUbiquitousKeyValueStoreQuotaViolationChange {
                    state.early = reason == NSUbiquitousKeyValueStoreAccountChange ? [] : nil
                }
                return (state.news, state.report, early)
            }
            switch reason {
            case NSUbiquitousKeyValueStoreQuotaViolationChange:
                report(
                    DefaultsError(
                        .refused, key: keys?.first,
                        reason: "iCloud has no room for what the devices have set; this device alone may have it"))
            case NSUbiquitousKeyValueStoreInitialSyncChange:
                for key in keys ?? [] where early?.contains(ByteString(key)) == true {
                    report(
                        DefaultsError(
                            .refused, key: key,
                            reason:
                                "iCloud had this key when the device met the account, and what was set before is dropped"
                        ))
                }
            default: break
            }
            // With another account any key may be gone, whatever the list says.
            news?(reason == NSUbiquitousKeyValueStoreAccountChange ? nil : keys)
        }

        /// Memory is written to disk by the system when it sees fit, and a program that is ended before that has lost it.
        public var synchronizationDelay: Duration? { .milliseconds(300) }

        public func synchronize() throws(DefaultsError) {
            guard !store.synchronize() else { return }
            throw DefaultsError(
                .unavailable,
                reason: "iCloud's key-value store cannot be synchronized; is there the entitlement"
                    + " com.apple.developer.ubiquity-kvstore-identifier?")
        }
    }

    extension UbiquitousBackend: CustomReflectable {
        /// Empty: what is stored never shows in a `dump`.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
