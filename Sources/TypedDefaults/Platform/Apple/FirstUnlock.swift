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
    /// replaces everything: https://forums.developer.apple.com/forums/thread/15685. A process that
    /// has started by then may see its settings empty until it ends.
    ///
    /// The *sentinel* is a key that exists once this library has stored anything. If it is visible,
    /// the settings are unlocked. Otherwise the *probe* decides, a file that exists once this
    /// library has stored or seen anything: before the first unlock the name of a file is visible,
    /// but its contents are not. The *domain file*, in which the system keeps the domain, shows the
    /// same for settings that were stored before the program had this library.
    ///
    /// | state    | becomes unlocked if                                                            |
    /// |----------|--------------------------------------------------------------------------------|
    /// | unknown  | the probe is readable; without a probe, if the domain shows a value, or if the |
    /// |          | domain file is readable or missing. Otherwise it becomes locked.               |
    /// | locked   | the probe is readable or missing, and the domain shows each key of its file    |
    /// | returned | as locked; without a readable domain file, if two readings of the domain agree |
    /// | unlocked | This state lasts until the process ends.                                       |
    ///
    /// A locked state becomes *returned* when the app comes to the foreground, or when the system
    /// reports that protected files can be read. Other code may store values before the unlock, so
    /// in these two states a visible value shows nothing.
    struct FirstUnlock: Sendable {
        /// The sentinel key. Suites never list or remove it.
        static let sentinel = "TypedDefaults.unlocked"

        private enum State: Comparable {
            case unknown, locked, returned, unlocked
            /// The sentinel and the probe exist.
            case marked
        }
        private let state = Locked(State.unknown)
        private let domain: String
        /// The folder `Library` of the program or group that has the domain.
        private let library: URL

        private var probe: URL { library.appending(path: "Application Support/TypedDefaults/TypedDefaults-\(domain)") }
        /// Apple names neither the folder nor the file.
        private var domainFile: URL { library.appending(path: "Preferences/\(domain).plist") }

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
            // The programs of a group share its files, so that a widget that has never written
            // finds those of the app. The system logs a fault if it is asked about another name.
            let container =
                domain.hasPrefix("group.")
                ? FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: domain) : nil
            return FirstUnlock(domain: domain, library: container?.appending(path: "Library") ?? library)
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
            let last = state.withLock { $0 }
            guard last < .unlocked else { return }
            // Not by `object(forKey:)`, which also finds the key of a domain that was added.
            let isUnlocked = keys(defaults).contains(Self.sentinel) || isUnlocked(defaults, last)
            state.withLock { $0 = max($0, isUnlocked ? .unlocked : .locked) }
            guard isUnlocked else {
                throw DefaultsError(
                    .unavailable, reason: "the device has not been unlocked since its restart; try again later")
            }
            // The program may only read its settings. For an empty domain, a probe would only keep
            // a process that starts before the unlock from storing anything after it.
            if isReadable(probe) == nil, !keys(defaults).isEmpty { createProbe() }
        }

        private func isUnlocked(_ defaults: UserDefaults, _ last: State) -> Bool {
            let (probe, keys) = (isReadable(probe), keys(defaults))
            let isReadable = probe ?? isReadable(domainFile)
            guard last != .unknown else { return isReadable != false || probe == nil && !keys.isEmpty }
            guard probe != false, isReadable != false || last == .returned else { return false }
            // Not before the unlock: https://openradar.appspot.com/16761393
            _ = defaults.synchronize()
            let newKeys = self.keys(defaults)
            let file = FileManager.default.contents(atPath: domainFile.path) ?? Data()
            let stored = try? PropertyListSerialization.propertyList(from: file, format: nil) as? [String: Any]
            return stored.map { newKeys.isSuperset(of: $0.keys) } ?? (last == .returned && newKeys == keys)
        }

        private func keys(_ defaults: UserDefaults) -> Set<String> {
            Set((defaults.persistentDomain(forName: domain) ?? [:]).keys)
        }

        /// Notes that the app has returned to the foreground, or that protected files are readable.
        func noteReturn() { state.withLock { if $0 == .locked { $0 = .returned } } }

        /// Creates the markers. Call this after a commit.
        func createMarkers(in defaults: UserDefaults) {
            guard state.withLock({ exchange(&$0, with: .marked) }) != .marked else { return }
            if isReadable(probe) == nil { createProbe() }
            if !keys(defaults).contains(Self.sentinel) { defaults.set(true, forKey: Self.sentinel) }
        }

        private func createProbe() {
            do {
                try FileManager.default.createDirectory(
                    at: probe.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("TypedDefaults".utf8).write(
                    to: probe, options: .completeFileProtectionUntilFirstUserAuthentication)
            } catch {
                writeToLog(
                    DefaultsError.Kind.unavailable.description,
                    line: "TypedDefaults: the file that shows whether the device was unlocked cannot be created")
            }
        }

        /// Returns whether a file can be read, or `nil` if it does not exist or is empty: a process
        /// may have ended while it created the file.
        private func isReadable(_ file: URL) -> Bool? {
            guard FileManager.default.fileExists(atPath: file.path) else { return nil }
            guard let contents = FileManager.default.contents(atPath: file.path) else { return false }
            return contents.isEmpty ? nil : true
        }
    }
#endif
