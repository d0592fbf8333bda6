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
        // Safe: documented as thread-safe. Retained, because the observed object must outlive the
        // observation.
        private let defaults: Unchecked<UserDefaults>
        private let key: String
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
            self.defaults = Unchecked(defaults)
            self.key = key
            number = KeyObserver.shared.add(onChange)
            defaults.addObserver(KeyObserver.shared, forKeyPath: key, options: [], context: KeyObserver.context(number))
        }

        deinit {
            KeyObserver.shared.remove(number)
            defaults.value.removeObserver(KeyObserver.shared, forKeyPath: key, context: KeyObserver.context(number))
        }
    }

    /// The only observer of all keys. It is never deallocated: an observer that is deallocated
    /// while another thread makes a change would be called afterward and crash the process.
    private final class KeyObserver: NSObject {
        // Safe: all of its state is protected by a lock.
        nonisolated(unsafe) static let shared = KeyObserver()
        private let handlers = Locked<(last: Int, all: [Int: @Sendable () -> Void])>((0, [:]))

        /// Returns the context that identifies an observation. It is never dereferenced.
        static func context(_ number: Int) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

        func add(_ handler: @escaping @Sendable () -> Void) -> Int {
            handlers.withLock { handlers in
                handlers.last += 1
                handlers.all[handlers.last] = handler
                return handlers.last
            }
        }

        func remove(_ number: Int) { handlers.withLock { $0.all[number] = nil } }

        override func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            // There is no handler if the observation has ended.
            handlers.withLock { $0.all[Int(bitPattern: context)] }?()
        }
    }
#endif
