import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        public import AppleFoundation
    #else
        public import Foundation
    #endif

    /// Stores settings in Foundation's `UserDefaults`, as plain property list objects that other
    /// code may read and write at any time. So every `get` reads the raw object, and skips decoding
    /// if it has not changed. The article *On Apple platforms* says what this guarantees.
    ///
    /// A `UserDefaults` object of which a key was observed is never deallocated.
    package final class UserDefaultsBackend: DefaultsBackend {
        // Safe: documented as thread-safe.
        private let shared: Unchecked<UserDefaults>
        var defaults: UserDefaults { shared.value }
        let followed = Locked(Followed())
        let edits = Locked(PendingEdits())
        /// The values of launch arguments, which hide stored values.
        private let arguments: [String: PropertyList]
        /// The name of the domain that holds the values of this suite; `nil` if unknown.
        private let domain: String?
        /// The identity under which the suite is found; `nil` if only its creator has it.
        let id: CoreID?
        let firstUnlock: FirstUnlock?
        let handler = AttachedHandler()
        /// The system saves the settings of an app in the background. `NSUserDefaults.h` asks other
        /// programs to save before they exit.
        package var traits: BackendTraits {
            BackendTraits(
                location: domain, synchronizationDelay: Bundle.main.bundleIdentifier == nil ? .milliseconds(300) : nil)
        }

        /// Creates a backend for a `UserDefaults` object.
        ///
        /// - Parameters:
        ///   - userDefaults: The object to read and write.
        ///   - suiteName: The name that the object was created with. Without it, the keys of an
        ///     object other than `UserDefaults.standard` cannot be listed, and cannot be removed
        ///     all at once.
        package convenience init(_ userDefaults: UserDefaults, suiteName: String? = nil) {
            let domain = Self.domain(of: userDefaults, named: suiteName)
            self.init(userDefaults, domain: domain, firstUnlock: .ofThisSystem(domain: domain))
        }

        init(_ userDefaults: UserDefaults, domain: String?, firstUnlock: FirstUnlock?, id: CoreID? = nil) {
            shared = Unchecked(userDefaults)
            (self.domain, self.firstUnlock, self.id) = (domain, firstUnlock, id)
            arguments = Self.arguments(of: userDefaults)
            UserDefaultsObserver.shared.add(self)
        }

        deinit { UserDefaultsObserver.shared.remove(self) }

        private static func arguments(of userDefaults: UserDefaults) -> [String: PropertyList] {
            // No typed key can read an argument that is not a property list.
            userDefaults.volatileDomain(forName: UserDefaults.argumentDomain).compactMapValues { try? PropertyList($0) }
        }

        /// The layers of a suite on a `UserDefaults` object.
        package static func layers(of userDefaults: UserDefaults) -> [DefaultsSuite.Layer] {
            [.arguments(arguments(of: userDefaults)), .stored]
        }

        /// The domain of `UserDefaults.standard`. For a program without a bundle, such as a
        /// command-line tool, `kCFPreferencesCurrentApplication` means a domain named after the
        /// process.
        static var standardDomain: String { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }

        static func domain(of userDefaults: UserDefaults, named suiteName: String?) -> String? {
            suiteName ?? (userDefaults === UserDefaults.standard ? standardDomain : nil)
        }

        package func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
            try firstUnlock?.check(defaults)
            let object: Any?
            if let edit = pendingEdit(key) {
                if let value = edit.value { return value }
                object = fallbackValue(forKey: key)
            } else {
                object = arguments[key] == nil ? defaults.object(forKey: key) : try storedObject(hiddenByArgument: key)
            }
            guard let object else { return nil }
            return try PropertyList(stored: object, forKey: key)
        }

        /// Returns the object that the domain itself has for a key, or the one that `UserDefaults`
        /// reads if the domain is unknown.
        func object(forKey key: String) -> Any? {
            guard let domain else { return defaults.object(forKey: key) }
            // Not from `UserDefaults`, which reads a list of domains, such as those of
            // `addSuite(named:)` and of all users.
            let object = CFPreferencesCopyValue(
                NSString(string: key) as CFString, NSString(string: domain) as CFString, kCFPreferencesCurrentUser,
                kCFPreferencesAnyHost)
            guard object == nil, defaults.object(forKey: key) != nil else { return object }
            // From a copy of the domain, because Apple does not promise that the function above
            // knows the domain of an app group. A key that no domain has does not need the copy.
            return defaults.persistentDomain(forName: domain)?[key]
        }

        /// Returns the value that a launch argument hides. Only the domain itself shows it, because
        /// the arguments belong to the whole process and stay in effect.
        private func storedObject(hiddenByArgument key: String) throws(DefaultsError) -> Any? {
            guard domain != nil else {
                throw DefaultsError(
                    .unavailable, key: key,
                    reason: "a launch argument hides the stored value; to read it, create the suite with its name:"
                        + " DefaultsSuite(userDefaults:suiteName:)")
            }
            return object(forKey: key) ?? fallbackValue(forKey: key)
        }

        /// Returns the value that `UserDefaults` reads if the domain has none: the value in the
        /// global domain, or the registered one.
        private func fallbackValue(forKey key: String) -> Any? {
            defaults.persistentDomain(forName: UserDefaults.globalDomain)?[key]
                ?? defaults.volatileDomain(forName: UserDefaults.registrationDomain)[key]
        }

        /// If the name of the suite is unknown, a value counts as stored if it differs from the
        /// registered one.
        package func layer(of key: String) throws(DefaultsError) -> BackendLayer {
            if isManaged(key) { return .managed }
            try firstUnlock?.check(defaults)
            return try isStored(key) ? .stored : .registered
        }

        private func isStored(_ key: String) throws(DefaultsError) -> Bool {
            if let edit = pendingEdit(key) { return edit.value != nil }
            if domain != nil { return object(forKey: key) != nil }
            guard arguments[key] == nil else { return try storedObject(hiddenByArgument: key) != nil }
            guard let object = defaults.object(forKey: key) else { return false }
            guard let registered = fallbackValue(forKey: key) else { return true }
            return (try? PropertyList(object)) != (try? PropertyList(registered))
        }

        /// Returns whether an administrator manages the value. `UserDefaults` then accepts a new
        /// value, but still returns the managed one.
        private func isManaged(_ key: String) -> Bool {
            defaults.objectIsForced(forKey: key)
                || domain.map { defaults.objectIsForced(forKey: key, inDomain: $0) } ?? false
        }

        package func keys() throws(DefaultsError) -> [String] {
            try firstUnlock?.check(defaults)
            guard let domain else {
                throw DefaultsError(
                    .unavailable,
                    reason: "to list the keys, create the suite with its name: DefaultsSuite(userDefaults:suiteName:)")
            }
            return contents(of: domain).keys.filter { $0 != FirstUnlock.sentinel }
        }

        /// Returns the values of the domain, with the edits that are not in `UserDefaults` yet.
        private func contents(of domain: String) -> [String: Any] {
            // Before the domain, because an edit can get there in the meantime.
            let pending = edits.withLock { Array($0.entries.keys) }.compactMap { key in
                pendingEdit(key.string).map { (key: key.string, object: $0.value?.object) }
            }
            var contents = defaults.persistentDomain(forName: domain) ?? [:]
            for (key, object) in pending { contents[key] = object }
            return contents
        }

        /// Applies the edits. Nothing can prevent other processes from writing to `UserDefaults`.
        package func commit(_ edits: BackendEdits, over _: UInt64?) throws(DefaultsError) -> CommitOutcome {
            try firstUnlock?.check(defaults)
            for edit in edits {
                guard !isManaged(edit.key) else {
                    throw DefaultsError(
                        .managed, key: edit.key, reason: "an administrator manages the value, so it cannot be changed")
                }
                try PropertyList.check(edit)
            }
            publish(edits)
            return .committed()
        }

        /// `NSUserDefaults.h` names another function for the program's own domain, and announces
        /// that `UserDefaults.synchronize()` will be deprecated.
        package func synchronize() throws(DefaultsError) {
            try firstUnlock?.check(defaults)
            // What is in `UserDefaults` is saved even if an observer holds up an edit.
            var failure: DefaultsError?
            do throws(DefaultsError) { try awaitEdits() } catch { failure = error }
            let isSaved =
                domain == Self.standardDomain
                ? CFPreferencesAppSynchronize(kCFPreferencesCurrentApplication) : defaults.synchronize()
            if let failure { throw failure }
            guard !isSaved else { return }
            throw DefaultsError(.unavailable, reason: "not all changes to UserDefaults could be saved")
        }

        func report(_ event: BackendEvent) { handler(event) }
    }

    extension UserDefaultsBackend: CustomReflectable {
        /// Empty, so that `dump` shows no stored value.
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    extension DefaultsSuite {
        /// Creates a suite for a `UserDefaults` object.
        ///
        /// ```swift
        /// let group = UserDefaults(suiteName: "group.com.example")!
        /// let suite = DefaultsSuite(userDefaults: group, suiteName: "group.com.example")
        /// ```
        ///
        /// Suites for one object share everything, and so do suites for two objects with the same
        /// `suiteName`. Without a name, two objects for one domain are two suites: `update(_:)`
        /// excludes only the other writers of its own suite.
        ///
        /// - Parameters:
        ///   - userDefaults: The object to read and write.
        ///   - suiteName: The name that the object was created with. Without it, the keys of an
        ///     object other than `UserDefaults.standard` cannot be listed, and a value that a
        ///     launch argument hides cannot be read or changed.
        public init(userDefaults: UserDefaults, suiteName: String? = nil) {
            let domain = UserDefaultsBackend.domain(of: userDefaults, named: suiteName)
            let id = domain.map(CoreID.init(domain:)) ?? CoreID(userDefaults)
            let isStandard = domain == UserDefaultsBackend.standardDomain
            self.init(
                core: SuiteCore.shared(
                    id: id, isStandard: isStandard, layers: Layers(UserDefaultsBackend.layers(of: userDefaults))
                ) {
                    UserDefaultsBackend(
                        userDefaults, domain: domain, firstUnlock: .ofThisSystem(domain: domain), id: id)
                })
        }

        /// Returns the suite of a name on Apple platforms: the `UserDefaults` with that suite name,
        /// such as an app group.
        static func onUserDefaults(name: String) throws -> DefaultsSuite {
            try check(name: name)
            // This name means the program's own settings.
            if name == UserDefaultsBackend.standardDomain { return DefaultsSuite(userDefaults: .standard) }
            guard let userDefaults = userDefaults(named: name) else {
                throw DefaultsError(.invalidName, reason: "the system reserves this name")
            }
            return DefaultsSuite(userDefaults: userDefaults, suiteName: name)
        }

        /// Returns the object of a suite name that is in use, or a new one. An object of which a
        /// key was observed stays in use, so a suite that is opened again must not create another.
        private static func userDefaults(named name: String) -> UserDefaults? {
            if let object = objectsInUse.withLock({ $0[ByteString(name)]?.object }) { return object }
            guard let object = UserDefaults(suiteName: name) else { return nil }
            objectsInUse.withLock { $0[ByteString(name)] = WeakUserDefaults(object: object) }
            return object
        }
    }

    private let objectsInUse = Locked<[ByteString: WeakUserDefaults]>([:])
    private struct WeakUserDefaults { weak var object: UserDefaults? }
#endif
