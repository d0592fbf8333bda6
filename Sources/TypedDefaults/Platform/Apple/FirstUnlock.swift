import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// Detects whether a restarted device has been unlocked, so that `UserDefaults` shows the
    /// stored values.
    ///
    /// Before the first unlock, `UserDefaults` looks empty without any error, and a write then
    /// replaces everything. Two markers detect this. A sentinel key exists once anything has been
    /// stored: https://forums.developer.apple.com/forums/thread/15685. A probe file shows whether
    /// anything was ever stored: before the first unlock its name is visible, but its contents are
    /// not.
    final class FirstUnlock: Sendable {
        /// The sentinel key. Suites never list or remove it.
        static let sentinel = "TypedDefaults.unlocked"

        /// A file that has the same protection as the settings.
        struct Probe: Sendable {
            /// Returns whether the file can be read, or `nil` if it does not exist.
            let isReadable: @Sendable () -> Bool?
            let create: @Sendable () throws -> Void
        }
        private let probe: Probe
        private let domain: String?
        private enum Answer { case unknown, locked, unlocked }
        private let answer = Locked(Answer.unknown)
        private let hasCreatedMarkers = Locked(false)

        init(_ probe: Probe, domain: String? = nil) {
            self.probe = probe
            self.domain = domain
        }

        /// Throws if the stored values may be hidden.
        func check(_ defaults: UserDefaults) throws(DefaultsError) {
            guard answer.withLock({ $0 }) != .unlocked else { return }
            var isSentinelVisible = defaults.object(forKey: Self.sentinel) != nil
            if !isSentinelVisible, answer.withLock({ $0 }) == .locked {
                // Other code that empties the domain also removes the sentinel. Any value stored
                // later shows that the device is unlocked.
                _ = defaults.synchronize()
                isSentinelVisible = domain.map { defaults.persistentDomain(forName: $0)?.isEmpty == false } ?? false
            }
            let isReadable = isSentinelVisible ? true : probe.isReadable()
            let isLocked = answer.withLock { answer in
                // A process that found its settings locked may see them empty until it ends. In
                // that case, a readable file is not enough.
                if isSentinelVisible || isReadable == nil || isReadable == true && answer == .unknown {
                    answer = .unlocked
                } else {
                    answer = .locked
                }
                return answer == .locked
            }
            guard isLocked else { return }
            throw DefaultsError(
                .unavailable,
                reason:
                    "the device has not been unlocked since its restart, so settings cannot be read; try again later")
        }

        /// Creates the markers. Call this after a commit.
        func createMarkers(in defaults: UserDefaults) {
            let isFirst = hasCreatedMarkers.withLock { hasCreatedMarkers in
                defer { hasCreatedMarkers = true }
                return !hasCreatedMarkers
            }
            guard isFirst else { return }
            do {
                if probe.isReadable() == nil { try probe.create() }
                if defaults.object(forKey: Self.sentinel) == nil { defaults.set(true, forKey: Self.sentinel) }
            } catch {
                writeToLog(
                    DefaultsError.Kind.unavailable.description,
                    line:
                        "TypedDefaults: settings will look empty before the first unlock, because the probe file cannot be created"
                )
            }
        }
    }

    extension FirstUnlock.Probe {
        /// Creates a probe for a file in the given folder.
        init(folder: URL, domain: String) {
            let file = folder.appending(path: "TypedDefaults-\(domain)")
            self.init {
                FileManager.default.fileExists(atPath: file.path)
                    ? FileManager.default.contents(atPath: file.path).map { !$0.isEmpty } ?? false : nil
            } create: {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data("TypedDefaults".utf8).write(
                    to: file, options: .completeFileProtectionUntilFirstUserAuthentication)
            }
        }
    }
#endif
