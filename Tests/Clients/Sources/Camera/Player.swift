import TypedDefaults

nonisolated extension DefaultKey<Int> {
    public static let volume = DefaultKey("volume", default: 5, rule: .clamped(to: 0...10))
}

public struct Equalizer: DefaultConfig, Equatable {
    public static let key = "Equalizer"
    public static let rules: [DefaultRule<Equalizer>] = [
        .on(\.bass, .clamped(to: -12...12)), .on(\.preset, .oneOf(["flat", "rock"])),
        DefaultRule("quiet if loud") { !$0.isLoud || $0.bass <= 6 },
    ]
    public var bass = 0
    public var preset = "flat"
    public var isLoud = false
    public init() {}
}

public struct Player {
    let suite: DefaultsSuite
    public init(suite: DefaultsSuite) { self.suite = suite }

    public func turnUp(by steps: Int) { suite[.volume] += steps }

    public var equalizer: PersistentStore<Equalizer> { PersistentStore(in: suite) }
}
