import TypedDefaults

/// Thirty feature flags.
public nonisolated enum Flag: String, CaseIterable, Sendable {
    case f01, f02, f03, f04, f05, f06, f07, f08, f09, f10, f11, f12, f13, f14, f15
    case f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30

    public var key: DefaultKey<Bool> { DefaultKey("flag/\(rawValue)", default: self == .f03) }
}

/// A menu that lists the value of each flag and where it comes from, and toggles flags.
public struct FlagMenu {
    let suite: DefaultsSuite

    public init(
        suite: DefaultsSuite, arguments: [String], environment: [String: String], server: [String: PropertyList]
    ) {
        self.suite = suite
        suite.layers = [
            .arguments(arguments), .environment(prefix: "APP_", environment), .stored, .values(server, name: "server"),
        ]
    }

    @discardableResult public func answer(_ command: String) -> [String] {
        switch command {
        case "list": return Flag.allCases.map(line)
        case "reset": suite.remove(Flag.allCases.map { $0.key.name })
        default:
            guard let flag = Flag(rawValue: command) else { return ["there is no flag \(command)"] }
            suite[flag.key].toggle()
            return [line(flag)]
        }
        return []
    }

    public func line(_ flag: Flag) -> String {
        let setting = UserDefault(flag.key, in: suite)
        return "\(flag) \(setting.value ? "on" : "off") \(setting.source)\(setting.isManaged ? " (locked)" : "")"
    }
}
