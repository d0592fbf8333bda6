import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation) || UserDefaults
    #if canImport(AppleFoundation)
        public import AppleFoundation
    #else
        public import Foundation
    #endif

    /// Settings in Foundation's `UserDefaults`, where other code may read and write them as well.
    ///
    /// Values are stored as the plain objects that they are, so keys that a program already uses are read in place. Every `get`
    /// reads the raw object and skips the decoding if it is the one decoded last: anybody may write `UserDefaults` at any time.
    ///
    /// ## On Apple platforms
    ///
    /// *Not run there.*
    ///
    /// - **Changes by other code.** Stores report each change once, whether this process or another one makes it, by key-value
    ///   observing. Keys that contain `.` or `@`, or are empty, cannot be observed this way. The backend compares their values whenever
    ///   this process changes any `UserDefaults`, so it reports what another process wrote only at the next such change. Do not use such
    ///   keys for values that processes share.
    /// - **Registered and global values.** A key in which nothing is stored reads the value that was registered with
    ///   `register(defaults:)`, or the one in the global domain. That value is read but not stored: ``UserDefault/isSet`` is false,
    ///   ``DefaultsSuite/keys()`` does not list it, and it remains after `remove()`. Observers of the removal hear this value, which is
    ///   also what `get()` returns.
    /// - **Managed values.** An administrator can provide a value. Saving it throws ``DefaultsError/Kind/managed``; ask
    ///   ``UserDefault/isManaged`` to disable a control.
    /// - **App groups.** Without its entitlement, the system stores a group's settings as the program's own. On iOS, tvOS, watchOS and
    ///   visionOS the failure handler hears this once, as ``DefaultsError/Kind/unavailable``.
    /// - **Saving.** The system saves the settings of an app in the background. For a program without a bundle, such as a command-line
    ///   tool, the library saves them within a second and at a normal exit.
    /// - **Before the first unlock.** A device that was restarted shows no settings until it is unlocked. Reads and writes throw
    ///   ``DefaultsError/Kind/unavailable`` until then. A process that starts earlier stays so after the unlock if other code empties the
    ///   domain with `removePersistentDomain(forName:)`, until a value is stored there or the process ends.
    /// - **Waiting.** A write waits up to two seconds while another thread runs the body of an `update`, on the main thread as well, and
    ///   then fails with ``DefaultsError/Kind/timedOut``. The waiting thread does not raise the priority of the other one.
    /// - **Writing inside an observer of `UserDefaults`.** Such an observer is called inside the write of a store. Reading is fine, but to
    ///   write the same suite through a store at that moment is a ``DefaultsError/Kind/nestedWrite``.
    /// - **Two objects for one domain** are two suites, unless both give the same name to ``DefaultsSuite/init(userDefaults:suiteName:)``.
    ///
    /// ## On both
    ///
    /// On Apple platforms this is what ``DefaultsSuite/standard`` stands on (*not run on Apple platforms*). On Linux, where a
    /// a settings file takes its place, it needs the package trait `UserDefaults`, saves in the background within a second and at exit, and refuses every value that
    /// Foundation would not give back the same. What it cannot mend there, since it lies below: the file is rewritten in place,
    /// so that a kill or a full disk at that moment leaves it empty; and of two processes that write at the same time, one
    /// loses updates, different keys or not.
    public final class UserDefaultsBackend: DefaultsBackend {
        // Safe: documented as thread-safe on Apple platforms; on Linux used by many threads without a fault, and guarded where two
        // calls belong together.
        private let shared: Unchecked<UserDefaults>
        var defaults: UserDefaults { shared.value }
        let state = Locked(FoundationDomain.State())
        /// A commit of several keys that is under way: readers get all of it from here until all of it is there.
        private let edits = Locked<[ByteString: PropertyList?]>([:])
        /// The keys that launch arguments stand in front of.
        private let arguments: [String: PropertyList]
        /// The name of the domain that holds this suite's own values; nil if unknown.
        private let domain: String?
        private let access: DomainAccess
        private let report = Locked<@Sendable (DefaultsError) -> Void>({ _ in })

        /// Where the file is: known on Linux only.
        public let location: String?

        /// Creates a backend on a `UserDefaults` object.
        ///
        /// - Parameters:
        ///   - userDefaults: The object to read and write.
        ///   - suiteName: The name that the object was created with. Without it the keys of an object other than
        ///     `UserDefaults.standard` cannot be listed, so not removed all at once.
        public convenience init(_ userDefaults: UserDefaults, suiteName: String? = nil) {
            let domain = suiteName ?? (userDefaults === UserDefaults.standard ? FoundationDomain.standard : nil)
            self.init(userDefaults, domain: domain, access: DomainAccess(domain: domain))
        }

        init(_ userDefaults: UserDefaults, domain: String?, access: DomainAccess) {
            shared = Unchecked(userDefaults)
            self.domain = domain
            location = domain.flatMap(FoundationDomain.path)
            self.access = access
            // On Linux a look at the persistent domain before the first look at a value would bind the object to a file of the domain's
            // name for good, and the program's own settings would be neither found nor written.
            _ = userDefaults.object(forKey: "")
            var arguments: [String: PropertyList] = [:]
            for (key, object) in userDefaults.volatileDomain(forName: UserDefaults.argumentDomain) {
                // An argument that is no property list could not have been asked for by any typed key either.
                arguments[key] = try? PropertyList(object)
            }
            self.arguments = arguments
        }

        public func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
            try checkAccess()
            if let edit = edits.withLock({ $0[ByteString(key)] }) { return edit }
            let object = try FoundationDomain.guarding(state) { () throws(DefaultsError) in
                arguments[key] == nil ? defaults.object(forKey: key) : try storedObject(behindArgument: key)
            }
            guard let object else { return nil }
            do throws(DefaultsError) {
                return try PropertyList(object)
            } catch {
                throw DefaultsError(
                    .unreadable, key: key, type: error.type, path: error.path,
                    reason: "what is stored is no property list")
            }
        }

        private func checkAccess() throws(DefaultsError) {
            try access.check(defaults)
            if let notice = access.takeNotice() { report.withLock { $0 }(notice) }
        }

        /// The value behind a launch argument. Nothing but the domain shows it: the arguments are the whole process's, so they stay
        /// where they are.
        private func storedObject(behindArgument key: String) throws(DefaultsError) -> Any? {
            guard let domain else {
                throw DefaultsError(
                    .unavailable, key: key,
                    reason: "a launch argument hides the stored value, and only the suite's name leads to it:"
                        + " DefaultsSuite(userDefaults:suiteName:)")
            }
            return defaults.persistentDomain(forName: domain)?[key]
                ?? FoundationDomain.fallbackValue(key, defaults)
        }

        public var hasFallbackValues: Bool { FoundationDomain.hasFallbackValues }

        /// Whether the domain itself has a value. Where the suite's name is unknown, a value that differs from the fallback value.
        public func isStored(_ key: String) throws(DefaultsError) -> Bool {
            try checkAccess()
            if let edit = edits.withLock({ $0[ByteString(key)] }) { return edit != nil }
            if isManaged(key) { return true }
            return try FoundationDomain.guarding(state) { () throws(DefaultsError) in
                if arguments[key] == nil {
                    guard let object = defaults.object(forKey: key) else { return false }
                    guard let fallback = FoundationDomain.fallbackValue(key, defaults) else { return true }
                    if domain == nil { return (try? PropertyList(object)) != (try? PropertyList(fallback)) }
                }
                guard let domain else { return try storedObject(behindArgument: key) != nil }
                return defaults.persistentDomain(forName: domain)?[key] != nil
            }
        }

        public func isManaged(_ key: String) -> Bool { FoundationDomain.isManaged(key, defaults, domain: domain) }

        public func keys() throws(DefaultsError) -> [String] {
            try checkAccess()
            guard let domain else {
                throw DefaultsError(
                    .unavailable,
                    reason: "the suite's name is needed to list its keys: DefaultsSuite(userDefaults:suiteName:)")
            }
            let keys = FoundationDomain.guarding(state) { defaults.persistentDomain(forName: domain)?.keys }
            return keys.map { Array($0.filter { !DomainAccess.ownKeys.contains($0) }) } ?? []
        }

        /// Runs `body`; there is no way to keep other processes from writing `UserDefaults`.
        public func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
            try checkAccess()
            for edit in edits {
                guard !isManaged(edit.key) else {
                    throw DefaultsError(
                        .managed, key: edit.key, reason: "an administrator provides the value, so it cannot be changed")
                }
                guard let value = edit.value else { continue }
                do throws(DefaultsError) {
                    try FoundationDomain.check(key: edit.key)
                    try FoundationDomain.check(value)
                } catch {
                    throw error.about(key: edit.key)
                }
            }
            let warning = try access.checkSize(edits) {
                domain.flatMap { defaults.persistentDomain(forName: $0) } ?? [:]
            }
            if edits.count > 1 {
                self.edits.withLock { for edit in edits { $0[ByteString(edit.key)] = .some(edit.value) } }
            }
            defer { if edits.count > 1 { self.edits.withLock { $0 = [:] } } }
            FoundationDomain.guarding(state) {
                for edit in edits {
                    if edit.value == nil || FoundationDomain.skipsEqualValues {
                        defaults.removeObject(forKey: edit.key)
                    }
                    if let value = edit.value { defaults.set(value.object, forKey: edit.key) }
                }
            }
            access.noteCommit(defaults)
            if let warning { report.withLock { $0 }(warning) }
        }

        public var synchronizationDelay: Duration? { FoundationDomain.synchronizationDelay }

        public func synchronize() throws(DefaultsError) {
            try access.check(defaults)
            // Guarded, or half a commit could be saved.
            let isSaved = try FoundationDomain.guarding(state) { () throws(DefaultsError) in
                // Foundation overwrites a file that was damaged meanwhile as well.
                if let obstacle = domain.flatMap({ FoundationDomain.obstacle(domain: $0) }) { throw obstacle }
                return FoundationDomain.synchronize(defaults, domain: domain)
            }
            guard !isSaved else { return }
            throw DefaultsError(
                .unavailable,
                reason: "UserDefaults could not be saved\(location.map { " to \($0)" } ?? ""), or not all of it")
        }

        public func attach(report: @escaping @Sendable (DefaultsError) -> Void) {
            // Release the old closure after unlocking: it may hold objects of the program.
            let old = self.report.withLock { current in
                defer { current = report }
                return current
            }
            withExtendedLifetime(old) {}
        }

        public func launchArgument(forKey key: String) -> PropertyList? { arguments[key] }
    }

    extension UserDefaultsBackend: CustomReflectable {
        /// Empty: what is stored never shows in a `dump`.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    extension DefaultsSuite {
        /// Creates a suite on a `UserDefaults` object.
        ///
        /// ```swift
        /// let suite = DefaultsSuite(userDefaults: UserDefaults(suiteName: "group.com.example")!, suiteName: "group.com.example")
        /// ```
        ///
        /// Suites on one object share everything, and so do suites on two objects if both give the same `suiteName`. Without it, two
        /// objects on one domain are two suites: each `update(_:)` excludes the writers of its own suite only.
        ///
        /// - Parameters:
        ///   - userDefaults: The object to read and write.
        ///   - suiteName: The name that the object was created with. Without it, the keys of an object other than
        ///     `UserDefaults.standard` cannot be listed, and a value that a launch argument hides cannot be read or changed.
        public init(userDefaults: UserDefaults, suiteName: String? = nil) {
            let domain = suiteName ?? (userDefaults === UserDefaults.standard ? FoundationDomain.standard : nil)
            guard let domain else {
                core = SuiteCore.shared(id: ObjectIdentifier(userDefaults)) { UserDefaultsBackend(userDefaults) }
                return
            }
            core = SuiteCore.shared(id: UserDefaultsDomain(name: domain)) {
                UserDefaultsBackend(userDefaults, suiteName: domain)
            }
        }
    }

    /// What suites on one domain of `UserDefaults` have in common.
    struct UserDefaultsDomain: Hashable { let name: String }
#endif
