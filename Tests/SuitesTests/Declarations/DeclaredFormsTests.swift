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
        #expect(try suite.contents() == DeclaredForms.stored)
    }
}
