import SettingsFile

#if canImport(Darwin)
    import Foundation

    // Not run on Apple platforms.
    extension DefaultsSuite {
        /// The program's own settings: `UserDefaults.standard`.
        public static let standard = DefaultsSuite(userDefaults: .standard)

        /// The identifier of the bundle, which names the program's own settings here. Assigning a
        /// name has no effect.
        public static var standardName: String {
            get { programIdentifier }
            set { precondition((try? check(name: newValue)) != nil, "“\(newValue)” is not a valid suite name") }
        }

        /// The name that distinguishes this program's settings from those of others.
        static var programIdentifier: String {
            Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        }

        /// The settings of that name: an app group or the like.
        ///
        /// - Throws: ``DefaultsError/Kind/invalidName`` unless the name is 1 to 200 letters,
        ///   digits, `.`, `_` and `-` of ASCII, and does not begin with a dot.
        public init(name: String) throws {
            self = try .onUserDefaults(name: name)
        }
    }
#else
    extension DefaultsSuite {
        /// The program's own settings.
        ///
        /// On Apple platforms `UserDefaults.standard`. Elsewhere a settings file, named by
        /// ``standardName`` or else by the file name of the executable, with bytes that a suite's
        /// name may not hold as `%XX`. Programs of one file name share it.
        // Not by the bundle's identifier, which only all of Foundation knows and programs have none
        // of: linking it would lead to other settings.
        public static let standard = DefaultsSuite(settingsFile: standardSuiteName.takeName())

        /// The name of the program's own settings, by default the file name of the executable.
        ///
        /// ```swift
        /// DefaultsSuite.standardName = "com.example.camera"
        /// ```
        ///
        /// Assign a name that stays when the executable is renamed, once and before ``standard`` is
        /// used: assigning another name later, or one that ``init(name:)`` refuses, ends the
        /// program. On Apple platforms the bundle names the settings, and assigning has no effect.
        public static var standardName: String {
            get { standardSuiteName.takeName() }
            set {
                precondition((try? check(name: newValue)) != nil, "“\(newValue)” is not a valid suite name")
                precondition(standardSuiteName.give(newValue), "the standard suite is in use under another name")
            }
        }

        /// The name that distinguishes this program's settings from those of others.
        static var programIdentifier: String { standardSuiteName.takeName() }

        /// The settings of that name, in `$XDG_CONFIG_HOME`, else `~/.config`, `/<name>.defaults`;
        /// on Apple platforms an app group or the like.
        ///
        /// - Throws: ``DefaultsError/Kind/invalidName`` unless the name is 1 to 200 letters,
        ///   digits, `.`, `_` and `-` of ASCII, and does not begin with a dot.
        public init(name: String) throws {
            try Self.check(name: name)
            self.init(settingsFile: name)
        }

        private init(settingsFile name: String) {
            // Programs without a name must not share a file.
            let path = name.isEmpty ? nil : SettingsFolder.path.map { "\($0)/\(name).defaults" }
            let id = ByteString(path ?? "no folder: \(name)")
            self.init(core: SuiteCore.shared(id: id) { FileBackend(namedPath: path) })
        }
    }

    private let standardSuiteName = StandardName()

    /// The name of the program's own settings, which may be given once and is taken for good.
    private final class StandardName: Sendable {
        private let state = Forks.holding(Locked<(name: String?, isTaken: Bool)>((nil, false)))

        /// Whether the name is that of the suite from now on.
        func give(_ name: String) -> Bool {
            state.withLock { state in
                if state.name == nil, !state.isTaken { state.name = name }
                return state.name == name
            }
        }

        func takeName() -> String {
            state.withLock { state in
                let name = state.name ?? Self.escaped(SettingsFolder.executableName)
                state = (name, true)
                return name
            }
        }

        /// The name with bytes that no suite's name may hold as `%XX`.
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
