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
    /// replaces everything. Two markers and a file of the system detect this. A sentinel key exists
    /// once this library has stored anything: https://forums.developer.apple.com/forums/thread/15685.
    /// A probe file exists once it has stored or seen anything: before the first unlock the name of
    /// a file is visible, but its contents are not. The file in which the system keeps the domain
    /// shows the same for settings that were stored before the program had this library.
    final class FirstUnlock: Sendable {
        /// The sentinel key. Suites never list or remove it.
        static let sentinel = "TypedDefaults.unlocked"

        /// A file that has the same protection as the settings.
        struct Probe: Sendable {
            /// Returns whether the file can be read, or `nil` if it does not exist.
            let isReadable: @Sendable () -> Bool?
            let create: @Sendable () throws -> Void
            /// Returns whether the file of the domain can be read, or `nil` if it does not exist.
            var isDomainReadable: @Sendable () -> Bool? = { nil }
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

        /// Returns the check of a domain on a device that hides settings. *Not tested on Apple
        /// platforms.*
        ///
        /// - Parameters:
        ///   - library: The folder `Library` of the program.
        ///   - isOnMac: Whether this is an iOS app on a Mac, which hides no settings.
        static func onIOS(
            domain: String?, library: URL, isOnMac: Bool = ProcessInfo.processInfo.isiOSAppOnMac
        ) -> FirstUnlock? {
            guard let domain, !isOnMac else { return nil }
            var library = library
            // The programs of a group share its files, so that a widget that has never written
            // finds those of the app. The system logs a fault if it is asked about another name.
            if domain.hasPrefix("group."),
                let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: domain)
            {
                library = container.appending(path: "Library")
            }
            return FirstUnlock(Probe(library: library, domain: domain), domain: domain)
        }

        /// Returns the check of a domain on this system, or `nil` if the system hides no settings.
        static func ofThisSystem(domain: String?) -> FirstUnlock? {
            #if (os(iOS) && !targetEnvironment(macCatalyst)) || os(watchOS) || os(visionOS)
                onIOS(domain: domain, library: .libraryDirectory)
            #else
                nil
            #endif
        }

        /// Throws if the stored values may be hidden.
        func check(_ defaults: UserDefaults) throws(DefaultsError) {
            let last = answer.withLock { $0 }
            guard last != .unlocked else { return }
            let isSentinelVisible = defaults.object(forKey: Self.sentinel) != nil
            if last == .locked { _ = defaults.synchronize() }
            // Other code that empties the domain also removes the sentinel. Any value stored later
            // shows that the device is unlocked.
            let hasValues = isSentinelVisible || showsValues(defaults)
            let isProbeReadable = probe.isReadable()
            // If an empty domain has a file that cannot be read, its values are hidden.
            let isReadable = isProbeReadable ?? (hasValues ? true : probe.isDomainReadable())
            let isLocked = answer.withLock { answer in
                // A process that found its settings locked may see them empty until it ends. In
                // that case, a readable file is not enough.
                let isUnlocked =
                    isSentinelVisible || isReadable == nil || isReadable == true && (hasValues || answer == .unknown)
                answer = isUnlocked ? .unlocked : .locked
                return !isUnlocked
            }
            // The program may only read its settings. For an empty domain, a probe would only keep
            // a process that starts before the unlock from storing anything after it.
            if !isLocked, hasValues, isProbeReadable == nil { createProbe() }
            guard isLocked else { return }
            throw DefaultsError(
                .unavailable,
                reason:
                    "the device has not been unlocked since its restart, so settings cannot be read; try again later")
        }

        private func showsValues(_ defaults: UserDefaults) -> Bool {
            domain.map { defaults.persistentDomain(forName: $0)?.isEmpty == false } ?? false
        }

        /// Creates the markers. Call this after a commit.
        func createMarkers(in defaults: UserDefaults) {
            let isFirst = hasCreatedMarkers.withLock { hasCreatedMarkers in
                defer { hasCreatedMarkers = true }
                return !hasCreatedMarkers
            }
            guard isFirst else { return }
            if probe.isReadable() == nil { createProbe() }
            if defaults.object(forKey: Self.sentinel) == nil { defaults.set(true, forKey: Self.sentinel) }
        }

        private func createProbe() {
            do { try probe.create() } catch {
                writeToLog(
                    DefaultsError.Kind.unavailable.description,
                    line:
                        "TypedDefaults: settings may look empty before the first unlock; the file that would show this cannot be created"
                )
            }
        }
    }

    extension FirstUnlock.Probe {
        /// Creates a probe for a domain.
        ///
        /// - Parameter library: The folder `Library` of the program or group that has the domain.
        init(library: URL, domain: String) {
            let folder = library.appending(path: "Application Support/TypedDefaults")
            let file = folder.appending(path: "TypedDefaults-\(domain)")
            // Apple names neither the folder nor the file.
            let domainFile = library.appending(path: "Preferences/\(domain).plist")
            self.init {
                // A process may have ended while it created the file.
                Self.contents(file).map { $0?.isEmpty == false }
            } create: {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data("TypedDefaults".utf8).write(
                    to: file, options: .completeFileProtectionUntilFirstUserAuthentication)
            } isDomainReadable: {
                Self.contents(domainFile).map { $0 != nil }
            }
        }

        /// Returns the contents of a file, or `nil` if it cannot be read, or `nil` if it does not
        /// exist.
        private static func contents(_ file: URL) -> Data?? {
            FileManager.default.fileExists(atPath: file.path)
                ? .some(FileManager.default.contents(atPath: file.path)) : .none
        }
    }
#endif
