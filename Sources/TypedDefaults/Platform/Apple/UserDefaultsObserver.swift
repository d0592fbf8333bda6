import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// The only observer of the keys of all `UserDefaults` objects, and of the notifications that
    /// values may have changed. It passes them on to the backends.
    ///
    /// It is never deallocated: an observer that is deallocated while another thread makes a change
    /// would be called afterward and crash the process. Nor is a registration ever removed, because
    /// programs have crashed in `NSKeyValueWillChange` when one thread removed an observer while
    /// another one made a change: sindresorhus/Defaults #161, adobe/aepsdk-core-ios #871,
    /// statsig-io/statsig-kit #34. Programs have few keys and few `UserDefaults` objects.
    final class UserDefaultsObserver: NSObject {
        private struct Registration: Hashable {
            let object: Int
            let key: ByteString
        }
        private struct WeakBackend { weak var backend: UserDefaultsBackend? }
        private struct State {
            var backends: [ObjectIdentifier: WeakBackend] = [:]
            /// The objects that are observed, which must outlive their registrations.
            // Safe: documented as thread-safe.
            var registered: [Registration: Unchecked<UserDefaults>] = [:]
        }
        private let state = Locked(State())

        // Safe: all of its state is protected by a lock.
        nonisolated(unsafe) static let shared = {
            let observer = UserDefaultsObserver()
            observer.pass(UserDefaults.didChangeNotification) { $0.receiveChange() }
            // Text, because a program need not link UIKit, AppKit or WatchKit.
            for name in [
                "UIApplicationWillEnterForegroundNotification", "NSExtensionHostWillEnterForegroundNotification",
                "NSApplicationDidBecomeActiveNotification", "WKApplicationWillEnterForegroundNotification",
                "UIApplicationProtectedDataDidBecomeAvailable",
            ] { observer.pass(Notification.Name(name)) { $0.receiveReturn() } }
            return observer
        }()

        /// Passes a notification on, on the thread that posts it.
        private func pass(_ name: Notification.Name, to receive: @escaping @Sendable (UserDefaultsBackend) -> Void) {
            _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [state] _ in
                state.withLock({ $0.backends.values.compactMap(\.backend) }).forEach(receive)
            }
        }

        func add(_ backend: UserDefaultsBackend) {
            let reference = WeakBackend(backend: backend)
            state.withLock { $0.backends[ObjectIdentifier(backend)] = reference }
        }

        func remove(_ backend: UserDefaultsBackend) {
            state.withLock { $0.backends[ObjectIdentifier(backend)] = nil }
        }

        /// Returns whether the key can be observed. In a key path, `.` and `@` have other meanings.
        static func canObserve(_ key: String) -> Bool {
            !key.isEmpty && !key.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "@") }
        }

        /// Registers for a key, if that has not been done. Several threads may do so at the same
        /// time. A change is then reported several times, as some systems do anyway.
        func observe(_ key: String, of defaults: UserDefaults) {
            let object = Int(bitPattern: ObjectIdentifier(defaults))
            let registration = Registration(object: object, key: ByteString(key))
            guard state.withLock({ $0.registered[registration] == nil }) else { return }
            // The context is only a number, and never dereferenced.
            defaults.addObserver(
                self, forKeyPath: key, options: [], context: UnsafeMutableRawPointer(bitPattern: object))
            let reference = Unchecked(defaults)
            state.withLock { $0.registered[registration] = reference }
        }

        override func observeValue(
            forKeyPath keyPath: String?, of _: Any?, change _: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            guard let keyPath else { return }
            for backend in state.withLock({ $0.backends.values.compactMap(\.backend) })
            where Int(bitPattern: ObjectIdentifier(backend.defaults)) == Int(bitPattern: context) {
                backend.receiveChange(of: keyPath)
            }
        }
    }
#endif
