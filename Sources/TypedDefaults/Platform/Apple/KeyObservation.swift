import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// Observes one key of `UserDefaults` with key-value observing, until this object is
    /// deallocated.
    final class KeyObservation: Sendable {
        private let registration: Int
        private let number: Int

        /// Returns whether the key can be observed. In a key path, `.` and `@` have other meanings.
        static func isPossible(_ key: String) -> Bool {
            !key.isEmpty && !key.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "@") }
        }

        /// Starts the observation.
        ///
        /// - Parameter onChange: Called before a change returns, on the thread that makes it, or on
        ///   a thread of the system. Some systems call it more than once for one change, and it may
        ///   be called shortly after the observation ends.
        init(_ defaults: UserDefaults, key: String, onChange: @escaping @Sendable () -> Void) {
            (registration, number) = KeyObserver.shared.add(onChange, of: key, in: defaults)
        }

        deinit { KeyObserver.shared.removeHandler(number, of: registration) }
    }

    /// The only observer of all keys. It is never deallocated: an observer that is deallocated
    /// while another thread makes a change would be called afterward and crash the process.
    ///
    /// Nor is a registration ever removed, because programs have crashed in
    /// `NSKeyValueWillChange` when one thread removed an observer while another one made a change:
    /// sindresorhus/Defaults #161, adobe/aepsdk-core-ios #871, statsig-io/statsig-kit #34. Programs
    /// have few keys and few `UserDefaults` objects.
    private final class KeyObserver: NSObject {
        private struct Target: Hashable {
            let object: ObjectIdentifier
            let key: ByteString
        }

        private struct Registration {
            // Safe: documented as thread-safe. Retained, because the observed object must outlive
            // the registration.
            let defaults: Unchecked<UserDefaults>
            /// Whether `addObserver` has returned.
            var isComplete = false
            var handlers: [Int: @Sendable () -> Void] = [:]
        }

        private struct State {
            var numbers: [Target: Int] = [:]
            var registrations: [Registration] = []
            var lastHandler = 0
        }

        // Safe: all of its state is protected by a lock.
        nonisolated(unsafe) static let shared = KeyObserver()
        private let state = Locked(State())

        /// Adds a handler, and registers for the key if that has not been done.
        func add(
            _ handler: @escaping @Sendable () -> Void, of key: String, in defaults: UserDefaults
        ) -> (registration: Int, handler: Int) {
            let target = Target(object: ObjectIdentifier(defaults), key: ByteString(key))
            let object = Unchecked(defaults)
            let (registration, number, isComplete) = state.withLock { state in
                let registration = state.numbers[target] ?? state.registrations.count
                if registration == state.registrations.count {
                    state.registrations.append(Registration(defaults: object))
                    state.numbers[target] = registration
                }
                state.lastHandler += 1
                state.registrations[registration].handlers[state.lastHandler] = handler
                return (registration, state.lastHandler, state.registrations[registration].isComplete)
            }
            // Several threads may register at the same time. A change is then reported several
            // times, as some systems do anyway.
            if !isComplete {
                // The context is only a number, and never dereferenced.
                let context = UnsafeMutableRawPointer(bitPattern: registration + 1)
                defaults.addObserver(self, forKeyPath: key, options: [], context: context)
                state.withLock { $0.registrations[registration].isComplete = true }
            }
            return (registration, number)
        }

        func removeHandler(_ number: Int, of registration: Int) {
            // Release the handler after unlocking, because it may hold objects of the program.
            let handler = state.withLock { $0.registrations[registration].handlers.removeValue(forKey: number) }
            withExtendedLifetime(handler) {}
        }

        override func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            let registration = Int(bitPattern: context) - 1
            for handler in state.withLock({ Array($0.registrations[registration].handlers.values) }) { handler() }
        }
    }
#endif
