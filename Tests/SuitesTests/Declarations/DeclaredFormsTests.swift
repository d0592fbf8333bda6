import TestSupport
import Testing
import TypedDefaults

/// Each way to declare a setting stores the form of its type, for each kind of type.
struct DeclaredFormsTests {
    typealias Raw = DeclaredForms.Raw
    typealias Converting = DeclaredForms.Converting
    typealias Both = DeclaredForms.Both

    struct Wrappers: Sendable {
        @UserDefault var raw: Raw
        @UserDefault var optionalRaw: Raw?
        @UserDefault var converting: Converting
        @UserDefault var optionalConverting: Converting?
        @UserDefault var both: Both
        @UserDefault var optionalBoth: Both?

        init(in suite: DefaultsSuite) {
            _raw = UserDefault(wrappedValue: .one, "raw", in: suite)
            _optionalRaw = UserDefault(wrappedValue: nil, "optionalRaw", in: suite)
            _converting = UserDefault(wrappedValue: Converting(1), "converting", in: suite)
            _optionalConverting = UserDefault(wrappedValue: nil, "optionalConverting", in: suite)
            _both = UserDefault(wrappedValue: .zero, "both", in: suite)
            _optionalBoth = UserDefault(wrappedValue: nil, "optionalBoth", in: suite)
        }
    }

    @Test func wrappersStoreTheFormOfTheirType() throws {
        let suite = DefaultsSuite.inMemory()
        let settings = Wrappers(in: suite)
        #expect(settings.raw == .one && settings.optionalRaw == nil)
        #expect(settings.converting.number == 1 && settings.optionalConverting == nil)
        #expect(settings.both == .zero && settings.optionalBoth == nil)
        settings.raw = .two
        settings.optionalRaw = .two
        settings.converting = Converting(2)
        settings.optionalConverting = Converting(2)
        settings.both = .one
        settings.optionalBoth = .one
        #expect(try suite.contents() == DeclaredForms.stored)
        #expect(Wrappers(in: suite).optionalConverting?.number == 2)
    }

    /// Has a raw value, and is `Codable` in another form.
    enum Coded: Int, Codable {
        case zero, one
        init(from decoder: any Decoder) throws { self = try String(from: decoder) == "uno" ? .one : .zero }
        func encode(to encoder: any Encoder) throws { try (self == .one ? "uno" : "cero").encode(to: encoder) }
    }

    /// Also converts itself, in a third form.
    enum Every: Int, Codable, DefaultConvertible {
        static let key = "unused"
        case zero, one
        init?(_ object: Any) {
            guard let text = object as? String else { return nil }
            self = text == "#1" ? .one : .zero
        }
        func serialize() -> Any { "#\(rawValue)" }
    }

    /// Its own conversion comes before `Codable`, and `Codable` before the raw value, however the
    /// setting is declared.
    @Test func aTypeOfSeveralKindsHasOneForm() throws {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        func expect<Value>(_ setting: UserDefault<Value>, _ value: Value, _ stored: PropertyList) throws {
            setting.value = value
            #expect(try suite.contents() == [setting.key.name: stored])
            setting.reset()
        }
        func inGenericCode<Value: Codable & Sendable>(_ name: String, _ value: Value) -> UserDefault<Value> {
            UserDefault(name, default: value, in: suite)
        }
        try expect(UserDefault(DefaultKey("coded", default: Coded.zero), in: suite), .one, "uno")
        try expect(UserDefault(DefaultKey<Coded?>("coded"), in: suite), .one, "uno")
        try expect(UserDefault(DefaultKey<Coded?>("coded", default: .zero), in: suite), .one, "uno")
        try expect(UserDefault("coded", default: Coded.zero, in: suite), .one, "uno")
        try expect(UserDefault<Coded?>("coded", default: .zero, in: suite), .one, "uno")
        try expect(UserDefault(wrappedValue: Coded.zero, "coded", in: suite), .one, "uno")
        try expect(UserDefault<Coded?>(wrappedValue: .zero, "coded", in: suite), .one, "uno")
        try expect(UserDefault<Coded?>("coded", in: suite), .one, "uno")
        try expect(inGenericCode("coded", Coded.zero), .one, "uno")

        try expect(UserDefault(DefaultKey("every", default: Every.zero), in: suite), .one, "#1")
        try expect(UserDefault(DefaultKey<Every?>("every"), in: suite), .one, "#1")
        try expect(UserDefault(DefaultKey<Every?>("every", default: .zero), in: suite), .one, "#1")
        try expect(UserDefault("every", default: Every.zero, in: suite), .one, "#1")
        try expect(UserDefault<Every?>("every", default: .zero, in: suite), .one, "#1")
        try expect(UserDefault(wrappedValue: Every.zero, "every", in: suite), .one, "#1")
        try expect(UserDefault<Every?>(wrappedValue: .zero, "every", in: suite), .one, "#1")
        try expect(UserDefault<Every?>("every", in: suite), .one, "#1")
        try expect(inGenericCode("every", Every.zero), .one, "#1")

        try expect(UserDefault<Both?>("both", in: suite), .one, "uno")
        #expect(failures.all.isEmpty)
    }
}
