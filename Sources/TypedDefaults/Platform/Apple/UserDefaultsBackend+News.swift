import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    // Changes that other code makes. Key-value observing reports those of each key, other processes included. Keys that it cannot
    // observe share one observer of the notification that this process has changed some `UserDefaults`: it compares their values with the
    // ones that it saw last, and reports the keys that differ.
    extension UserDefaultsBackend {
        public var followsKeys: Bool { true }

        public func watch(_ news: (@Sendable (_ keys: [String]?) -> Void)?) { state.withLock { $0.news = news } }

        public func follow(_ key: String, _ isFollowed: Bool) {
            let name = ByteString(key)
            let isObservable = KeyObservation.isPossible(key)
            // Released after the lock: observers of `UserDefaults` may be called meanwhile.
            var ended: (any Sendable)?
            let (isFirst, startsNotification) = state.withLock { state -> (Bool, Bool) in
                state.followed[name, default: .init(isObservable: isObservable)].count += isFollowed ? 1 : -1
                if state.followed[name]?.count == 0 {
                    ended = state.followed.removeValue(forKey: name)?.observation
                    if !isObservable, !state.hasUnobservable { swap(&ended, &state.notification) }
                }
                let isFirst = state.followed[name]?.count == 1 && isFollowed
                let startsNotification = isFirst && !isObservable && state.notification == nil
                return (isFirst, startsNotification)
            }
            withExtendedLifetime(ended) {}
            guard isFirst else { return }
            if isObservable {
                let observation = KeyObservation(defaults, key: key) { [weak self] in self?.report([key]) }
                // Let go of after the lock, if it ended meanwhile.
                withExtendedLifetime(observation) { state.withLock { $0.followed[name]?.observation = observation } }
            } else {
                if startsNotification { startNotification() }
                reportChanges()
            }
        }

        private func startNotification() {
            let observation = NotificationObservation(UserDefaults.didChangeNotification) { [weak self] _ in
                self?.reportChanges()
            }
            // Let go of after the lock, if another thread was faster or no key is left.
            withExtendedLifetime(observation) {
                state.withLock { state in
                    if state.hasUnobservable, state.notification == nil { state.notification = observation }
                }
            }
        }

        /// Reports the keys without key-value observing whose values are not those that were seen last.
        private func reportChanges() {
            let (keys, pass) = state.withLock { state in
                state.pass &+= 1
                return (state.followed.filter { !$0.value.isObservable }.map(\.key), state.pass)
            }
            // Not under the lock: reading may wait for a writer, which may be waiting for the lock in this very method.
            let values = keys.map { key in FoundationDomain.Seen.value(Result { try value(forKey: key.string) }) }
            let changed = state.withLock { state -> [String] in
                // A pass that began later has read later, and reports whatever this one has seen.
                guard state.pass == pass else { return [] }
                var changed: [String] = []
                for (key, value) in zip(keys, values) {
                    guard let seen = state.followed[key]?.seen else { continue }
                    state.followed[key]?.seen = value
                    // The suite reads a new key itself, after it has asked to follow it.
                    if !seen.isEqual(to: value), !seen.isUnknown { changed.append(key.string) }
                }
                return changed
            }
            if !changed.isEmpty { report(changed) }
        }

        private func report(_ keys: [String]) { state.withLock { $0.news }?(keys) }
    }

    extension FoundationDomain {
        /// What a backend follows, and whom it tells.
        struct State {
            struct Followed {
                let isObservable: Bool
                var count = 0
                var observation: (any Sendable)?
                /// The value at the last notification, of a key that cannot be observed.
                var seen = Seen.unknown
            }
            var followed: [ByteString: Followed] = [:]
            var notification: (any Sendable)?
            /// Counts the passes over the keys that cannot be observed.
            var pass: UInt = 0
            var news: (@Sendable ([String]?) -> Void)?

            var hasUnobservable: Bool { followed.values.contains { !$0.isObservable } }
        }

        /// What a key was seen to hold.
        enum Seen: Sendable {
            case unknown
            case value(Result<PropertyList?, any Error>)

            var isUnknown: Bool { if case .unknown = self { true } else { false } }

            /// False where one of them could not be read.
            func isEqual(to other: Seen) -> Bool {
                guard case .value(.success(let value)) = self, case .value(.success(let other)) = other else {
                    return false
                }
                return value == other
            }
        }
    }

    /// A notification that is observed on the thread that posts it, as long as this object lives.
    final class NotificationObservation: Sendable {
        // Safe: only handed back to be removed.
        private nonisolated(unsafe) let token: any NSObjectProtocol

        init(_ name: Notification.Name, heard: @escaping @Sendable (Notification) -> Void) {
            token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil, using: heard)
        }

        deinit { NotificationCenter.default.removeObserver(token) }
    }
#endif
