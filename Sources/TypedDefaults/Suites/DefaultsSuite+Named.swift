import SettingsFile

#if canImport(Darwin)
    import Foundation

    // Not tested on Apple platforms.
    extension DefaultsSuite {
        /// The program's own settings: `UserDefaults.standard`.
        ///
        /// If the environment variable `TYPED_DEFAULTS_STANDARD` is `memory`, this is a suite in
        /// memory that also reads launch arguments, for tests. See <doc:Testing>.
        public static let standard =
            standardInMemory(ProcessInfo.processInfo.environment[standardVariable])
            ?? DefaultsSuite(userDefaults: .standard)

        /// The name of the program's own settings: the bundle identifier or, without one, the name
        /// of the process. Assigning another name has no effect on Apple platforms.
        public static var standardName: String {
            get { UserDefaultsBackend.standardDomain }
            set { precondition((try? check(name: newValue)) != nil, "“\(newValue)” is not a valid suite name") }
        }

        /// Creates a suite on the `UserDefaults` with a suite name, such as that of an app group.
        ///
        /// - Throws: ``DefaultsError/Kind/invalidName`` unless the name consists of 1 to 200 ASCII
        ///   letters, digits, `.`, `_` and `-`, and does not begin with a dot.
        public init(name: String) throws {
            self = try .onUserDefaults(name: name)
        }
    }
#else
    extension DefaultsSuite {
        /// The program's own settings.
        ///
        /// On Apple platforms, this is `UserDefaults.standard`. Elsewhere, it is a settings file
        /// named after ``standardName``. The default is the file name of the executable, with `%XX`
        /// in place of bytes that a suite name cannot contain. Executables with the same file name
        /// share this file.
        ///
        /// If the environment variable `TYPED_DEFAULTS_STANDARD` is `memory`, this is a suite in
        /// memory that also reads launch arguments, for tests. See <doc:Testing>.
        // The bundle identifier is not used, because only the full Foundation provides it: a
        // program would then use different settings when it links Foundation.
        public static let standard =
            standardInMemory(SettingsFolder.string(ofVariable: standardVariable))
            ?? DefaultsSuite(settingsFile: standardSuiteName.takeName())

        /// The name of the program's own settings, by default the file name of the executable.
        ///
        /// ```swift
        /// DefaultsSuite.standardName = "com.example.camera"
        /// ```
        ///
        /// Assign a name that does not change when the executable is renamed. Do this once, before
        /// ``standard`` is used: assigning a different name later, or a name that ``init(name:)``
        /// refuses, terminates the program. On Apple platforms, the bundle determines the name, and
        /// assigning has no effect.
        public static var standardName: String {
            get { standardSuiteName.takeName() }
            set {
                precondition((try? check(name: newValue)) != nil, "“\(newValue)” is not a valid suite name")
                if standardSuiteName.give(newValue, isReplaceable: false) { return }
                // In a test, another suite stands in for the standard one, which is not used.
                precondition(
                    StandInSuite.replacement(of: standard.core) != nil,
                    "the standard suite is in use under another name")
                standardSuiteName.give(newValue, isReplaceable: true)
            }
        }

        /// Creates a suite in the file `<name>.defaults` in the folder `$XDG_CONFIG_HOME`, or in
        /// `~/.config` without this variable. On Apple platforms, this is the `UserDefaults` with
        /// that suite name, such as an app group.
        ///
        /// - Throws: ``DefaultsError/Kind/invalidName`` unless the name consists of 1 to 200 ASCII
        ///   letters, digits, `.`, `_` and `-`, and does not begin with a dot.
        public init(name: String) throws {
            try Self.check(name: name)
            self.init(settingsFile: name)
        }

        private init(settingsFile name: String) {
            // Programs without a name must not share a file.
            let path =
                name.isEmpty
                ? nil : SettingsFolder.path.map { SettingsFileLocation.normalized("\($0)/\(name).defaults") }
            let id = CoreID(path: path ?? "no folder: \(name)")
            let isStandard = name == standardSuiteName.name
            self.init(core: SuiteCore.shared(id: id, isStandard: isStandard) { FileBackend(namedPath: path) })
        }
    }

    private let standardSuiteName = StandardName()

    /// The name of the program's own settings. It can be set once, and no longer changes after its
    /// first use.
    private final class StandardName: Sendable {
        private let state = Locked<(name: String?, isTaken: Bool)>((nil, false))

        /// Sets the name. Returns false if the suite already has a different one, unless that one
        /// is replaceable.
        @discardableResult
        func give(_ name: String, isReplaceable: Bool) -> Bool {
            state.withLock { state in
                if isReplaceable || (state.name == nil && !state.isTaken) { state.name = name }
                return state.name == name
            }
        }

        func takeName() -> String {
            let name = name
            return state.withLock { state in
                state = (state.name ?? name, true)
                return state.name ?? name
            }
        }

        /// The name at present, which may still change.
        var name: String { state.withLock { $0.name } ?? Self.escaped(SettingsFolder.executableName) }

        /// Returns the name with `%XX` in place of bytes that a suite name cannot contain.
        private static func escaped(_ name: [UInt8]) -> String {
            var escaped = ""
            for byte in name {
                let isAllowed =
                    DefaultsSuite.nameBytes.contains(byte) && !(escaped.isEmpty && byte == UInt8(ascii: "."))
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += isAllowed ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + digits
            }
            return escaped
        }
    }
#endif
