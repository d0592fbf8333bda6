import TypedDefaults

/// One version of an app, with its own types for the settings of all versions.
protocol AppVersion: SendableMetatype {
    static var number: Int { get }
    /// The steps that the app takes at launch, before it uses the settings.
    static func launch(_ suite: DefaultsSuite) throws
    /// Everything that the app reads, by one name for all versions.
    static func read(_ suite: DefaultsSuite) -> [String: String]
    /// Changes four settings: `zoom`, `author`, `launches` and `quality`.
    static func use(_ suite: DefaultsSuite) throws
    /// Stores the values of the fixture.
    static func fill(_ suite: DefaultsSuite) throws
}

extension AppVersion {
    static func launch(_ suite: DefaultsSuite) throws {}
}

extension Optional {
    /// The value, or "nil".
    var text: String { map { "\($0)" } ?? "nil" }
}
