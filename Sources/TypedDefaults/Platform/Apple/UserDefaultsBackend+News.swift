#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    // What others write: by key-value observing where the key allows it, which tells of other processes too; by the notification of
    // all changes else, which does not, and at each change of any `UserDefaults` in the process has all such keys read again.
    extension UserDefaultsBackend {
        public var followsKeys: Bool { true }

        public func watch(_ news: (@Sendable (_ keys: [String]?) -> Void)?) { state.withLock { $0.news = news } }

        public func follow(_ key: String, _ isFollowed: Bool) {
            let name = ByteString(key)
            // What ends does so after the lock: observers that are others' code may be called meanwhile.
            var ended: FoundationDomain.State.Followed?
            let changed = state.withLock { state -> Bool in
                state.followed[name, default: .init()].count += isFollowed ? 1 : -1
                if state.followed[name]?.count == 0 { ended = state.followed.removeValue(forKey: name) }
                return state.followed[name]?.count == 1 && isFollowed
            }
            withExtendedLifetime(ended) {}
            guard changed else { return }
            let observation = observation(of: key)
            state.withLock { $0.followed[name]?.observation = observation }
        }

        private func observation(of key: String) -> any Sendable {
            guard KeyObservation.isPossible(key) else {
                return NotificationObservation(UserDefaults.didChangeNotification) { [weak self] _ in self?.tell(key) }
            }
            return KeyObservation(defaults, key: key) { [weak self] in self?.tell(key) }
        }

        private func tell(_ key: String) { state.withLock { $0.news }?([key]) }
    }

    extension FoundationDomain {
        /// What a backend follows, and whom it tells.
        struct State {
            struct Followed {
                var count = 0
                var observation: (any Sendable)?
            }
            var followed: [ByteString: Followed] = [:]
            var news: (@Sendable ([String]?) -> Void)?
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
