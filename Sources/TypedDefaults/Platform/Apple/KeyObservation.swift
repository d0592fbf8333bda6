import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// News of one key of `UserDefaults` by key-value observing, as long as this object lives.
    final class KeyObservation: Sendable {
        // Safe: documented as thread-safe. Kept, since what is observed must not go first.
        private let defaults: Unchecked<UserDefaults>
        private let key: String
        private let number: Int

        /// Whether the key can be observed: `.` and `@` mean something else in a key path.
        static func isPossible(_ key: String) -> Bool {
            !key.isEmpty && !key.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "@") }
        }

        /// - Parameter heard: Called on the thread that makes a change before the change returns, or on one of the system's; for one
        ///   change more than once on some systems, and at times for a moment after the end.
        init(_ defaults: UserDefaults, key: String, heard: @escaping @Sendable () -> Void) {
            self.defaults = Unchecked(defaults)
            self.key = key
            number = KeyObserver.shared.add(heard)
            defaults.addObserver(KeyObserver.shared, forKeyPath: key, options: [], context: KeyObserver.context(number))
        }

        deinit {
            KeyObserver.shared.remove(number)
            defaults.value.removeObserver(KeyObserver.shared, forKeyPath: key, context: KeyObserver.context(number))
        }
    }

    /// The one observer of all keys, which never goes: one that goes while another thread makes a change would be told of it after
    /// its end, and that ends the program.
    private final class KeyObserver: NSObject {
        // Safe: all of its state is behind a lock.
        nonisolated(unsafe) static let shared = KeyObserver()
        private let handlers = Locked<(last: Int, all: [Int: @Sendable () -> Void])>((0, [:]))

        /// What tells the observations of one key apart. Never looked through as a pointer.
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
            // None if it has ended meanwhile.
            handlers.withLock { $0.all[Int(bitPattern: context)] }?()
        }
    }
#endif
