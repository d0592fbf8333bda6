import Foundation
import Testing
import TypedDefaults
import TypedDefaultsRecipes

/// Each way to declare a setting stores the form of its type, for each kind of type.
struct DeclaredFormsTests {
    /// Has a raw value and is neither `Codable` nor ``DefaultConvertible``.
    enum Raw: String { case one, two }
    struct Converting: DefaultConvertible {
        static let key = "unused"
        var number: Int
        init(_ number: Int) { self.number = number }
        init?(_ object: Any) {
            guard let text = object as? String, let number = Int(text.dropFirst()) else { return nil }
            self.number = number
        }
        func serialize() -> Any { "#\(number)" }
    }
    enum Both: Int, DefaultConvertible {
        static let key = "unused"
        case zero, one
        init?(_ object: Any) {
            guard let text = object as? String else { return nil }
            self = text == "uno" ? .one : .zero
        }
        func serialize() -> Any { self == .one ? "uno" : "cero" }
    }

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

    final class Config: StorableConfig {
        @Stored("raw") var raw = Raw.one
        @Stored("optionalRaw") var optionalRaw: Raw?
        @Stored("converting") var converting = Converting(1)
        @Stored("optionalConverting") var optionalConverting: Converting?
        @Stored("both") var both = Both.zero
        @Stored("optionalBoth") var optionalBoth: Both?
        @Stored("optionalText") var optionalText: String?
    }

    private let stored: SuiteContents = [
        "raw": "two", "optionalRaw": "two", "converting": "#2", "optionalConverting": "#2", "both": "uno",
        "optionalBoth": "uno",
    ]

    private func expectStored(in suite: DefaultsSuite) throws {
        #expect(try suite.contents() == stored)
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
        try expectStored(in: suite)
        #expect(Wrappers(in: suite).optionalConverting?.number == 2)
    }

    @Test func settingsWithADefaultStoreTheFormOfTheirType() throws {
        let suite = DefaultsSuite.inMemory()
        let optionalRaw = UserDefault(DefaultKey<Raw?>("optionalRaw", default: .one), in: suite)
        let optionalConverting = UserDefault(
            DefaultKey<Converting?>("optionalConverting", default: Converting(1)), in: suite)
        let optionalBoth = UserDefault(DefaultKey<Both?>("optionalBoth", default: .zero), in: suite)
        #expect(optionalRaw.value == .one && optionalConverting.value?.number == 1 && optionalBoth.value == .zero)
        UserDefault("raw", default: Raw.one, in: suite).value = .two
        optionalRaw.value = .two
        UserDefault("converting", default: Converting(1), in: suite).value = Converting(2)
        optionalConverting.value = Converting(2)
        UserDefault("both", default: Both.zero, in: suite).value = .one
        optionalBoth.value = .one
        try expectStored(in: suite)
    }

    @Test func storedPropertiesStoreTheFormOfTheirType() throws {
        let suite = DefaultsSuite.inMemory()
        let config = Config(in: suite)
        #expect(config.raw == .one && config.optionalRaw == nil)
        #expect(config.converting.number == 1 && config.optionalConverting == nil)
        #expect(config.both == .zero && config.optionalBoth == nil)
        config.raw = .two
        config.optionalRaw = .two
        config.converting = Converting(2)
        config.optionalConverting = Converting(2)
        config.both = .one
        config.optionalBoth = .one
        try expectStored(in: suite)
        #expect(config.optionalText == nil)
        config.optionalText = "text"
        #expect(suite[DefaultKey<PropertyList?>("optionalText")] == "text")
    }

    @Test func theValuesOfAKeyBeginWithTheCurrentOne() async {
        let suite = DefaultsSuite.inMemory(["count": 7])
        let key = DefaultKey("count", default: 0)
        var values = suite.values(key).makeAsyncIterator()
        #expect(await values.next() == 7)
        suite[key] = 8
        #expect(await values.next() == 8)
    }
}
