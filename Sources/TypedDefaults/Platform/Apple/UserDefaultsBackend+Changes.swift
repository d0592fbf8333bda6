import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    // External changes. Key-value observing reports changes of each key, including those of other
    // processes. For keys that it cannot observe, one observer of the notification that this
    // process has changed any `UserDefaults` compares their values with the previous ones.
    extension UserDefaultsBackend {
        @discardableResult
        package func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
            if let handler { self.handler.attach(handler) }
            if case .key(let key) = subject { follow(key, isOn: handler != nil) }
            return true
        }

        private func follow(_ key: String, isOn isFollowed: Bool) {
            let name = ByteString(key)
            let isObservable = KeyObservation.isPossible(key)
            // Release the observation after unlocking, because observers of `UserDefaults` may be
            // running.
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
                let observation = KeyObservation(defaults, key: key) { [weak self] in
                    self?.receiveChange(of: key)
                }
                // Release the observation after unlocking, in case the key is no longer followed.
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
            // Release the observation after unlocking, in case another thread was faster or no key
            // is left.
            withExtendedLifetime(observation) {
                state.withLock { state in
                    if state.hasUnobservable, state.notification == nil { state.notification = observation }
                }
            }
        }

        /// Reports the keys that cannot be observed and whose values have changed.
        func reportChanges() {
            let (keys, pass) = state.withLock { state in
                state.pass &+= 1
                return (state.followed.filter { !$0.value.isObservable }.map(\.key), state.pass)
            }
            // Read without the lock: reading may wait for a writer, and that writer may be waiting
            // for the lock in this method.
            let values = keys.map { find($0.string) }
            let changed = state.withLock { state -> [String] in
                // A pass that started later has read later, and reports the changes that this one
                // saw.
                guard state.pass == pass else { return [] }
                return zip(keys, values).compactMap { key, value in
                    let seen = state.followed[key]?.seen
                    state.followed[key]?.seen = value
                    // The suite itself reads a key after it starts to follow it.
                    return seen == nil || seen == value ? nil : key.string
                }
            }
            if !changed.isEmpty { report(.changed(keys: changed)) }
        }

        /// Reads the followed keys again whenever the app or the host of an extension comes to the
        /// foreground, and when a device has been unlocked. A suspended app receives nothing, and
        /// Apple does not say what it receives when it continues.
        func observeReturns() -> [NotificationObservation] {
            // Text, because a program need not link UIKit, AppKit or WatchKit.
            let names = [
                "UIApplicationWillEnterForegroundNotification", "NSExtensionHostWillEnterForegroundNotification",
                "NSApplicationDidBecomeActiveNotification", "WKApplicationWillEnterForegroundNotification",
                "UIApplicationProtectedDataDidBecomeAvailable",
            ]
            return names.map { name in
                NotificationObservation(Notification.Name(name)) { [weak self] _ in
                    guard let self else { return }
                    firstUnlock?.noteReturn()
                    let keys = state.withLock { $0.followed.keys.map(\.string) }
                    if !keys.isEmpty { report(.changed(keys: keys)) }
                }
            }
        }

        private func find(_ key: String) -> Found {
            do throws(DefaultsError) { return Found(try value(forKey: key)) } catch {
                return .unreadable
            }
        }
    }

    extension UserDefaultsBackend {
        /// The followed keys, and the handler of their changes.
        struct State {
            struct Followed {
                let isObservable: Bool
                var count = 0
                var observation: (any Sendable)?
                /// The value at the last notification, for a key that cannot be observed.
                var seen: Found?
            }
            var followed: [ByteString: Followed] = [:]
            var notification: (any Sendable)?
            /// The number of passes over the keys that cannot be observed.
            var pass: UInt = 0

            var hasUnobservable: Bool { followed.values.contains { !$0.isObservable } }
        }
    }

    /// Observes a notification on the thread that posts it, until this object is deallocated.
    final class NotificationObservation: Sendable {
        // Safe: only passed to `removeObserver`.
        private let token: Unchecked<any NSObjectProtocol>

        init(_ name: Notification.Name, handler: @escaping @Sendable (Notification) -> Void) {
            token = Unchecked(
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil, using: handler))
        }

        deinit { NotificationCenter.default.removeObserver(token.value) }
    }
#endif
