import Foundation
import Observation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

enum Theme: String { case light, dark }

final class AppConfig: StorableConfig {
    @Stored var isFirstLaunch = true
    @Stored var userName = ""
    @Stored var selectedHobbies: [String] = []
    @Stored("user-theme") var theme = Theme.light
    @Stored var nickname: String?
    @Stored var chosenTheme: Theme?
    let constant = 5
    var plain = "not stored"
    lazy var later = "not stored either"
}

class SocialConfig: StorableConfig {
    @Stored var userName = "guest"
}
final class TwitterConfig: SocialConfig {
    @Stored var isVerified = false
}
final class FacebookConfig: SocialConfig {
    final class Config: StorableConfig { @Stored var inner = 2 }
}
class GenericConfig<Element: Codable & Sendable>: StorableConfig {
    @Stored var list: [Element] = []
}
final class SpecialConfig: GenericConfig<Int> {
    @Stored var isSpecial = true
}

@Suite(.ownThreads) struct StorableConfigTests {
    enum Camera {
        final class Config: StorableConfig { @Stored var inner = 1 }
    }

    private func make<Config: StorableConfigBase>(
        _ make: (DefaultsSuite, String?) -> Config
    ) -> (Config, DefaultsSuite, Failures) {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        return (make(suite, "app"), suite, failures)
    }

    @Test func aClassWithoutAnyStoredPropertyIsReported() {
        class Forgotten: StorableConfig {
            dynamic var isFirstLaunch = true
            dynamic var userName = ""
        }
        class Empty: StorableConfig {}
        class Lazy: StorableConfig { lazy var later = 1 }
        class Base: StorableConfig { let plain = 1 }
        class Child: Base { @Stored var number = 1 }
        let (_, suite, failures) = make(Forgotten.init)
        #expect(failures.kinds == [.refused])
        #expect(
            failures.all.first?.reason == "no property is @Stored, so nothing is stored: isFirstLaunch, userName")
        #expect(failures.all.first?.type == "Forgotten")
        _ = Forgotten(in: suite, identifier: "app")
        #expect(failures.kinds == [.refused, .refused], "once for each instance")
        #expect(make(Empty.init).2.all == [])
        #expect(make(Lazy.init).2.all == [])
        #expect(make(Child.init).2.all == [])
        #expect(make(AppConfig.init).2.all == [], "it has other properties, too")
    }

    @Test func nestedClassesOfOneNameShareNothing() {
        let (inner, suite, failures) = make(FacebookConfig.Config.init)
        let other = Camera.Config(in: suite, identifier: "app")
        inner.inner = 7
        #expect(other.inner == 1)
        #expect(inner.allKeys == ["app/FacebookConfig/Config/inner"])
        #expect(other.allKeys == ["app/StorableConfigTests/Camera/Config/inner"])
        #expect(failures.all == [])
    }

    @Test func theKeyContainsTheNameInTheSource() {
        final class `Odd (v2).Name`: StorableConfig { @Stored var number = 1 }
        func key(_ config: StorableConfigBase) -> String? { config.allKeys.first }
        let suite = DefaultsSuite.inMemory()
        #expect(
            key(GenericConfig<[String: Int]>(in: suite, identifier: "i"))
                == "i/GenericConfig<Swift/Dictionary<Swift/String, Swift/Int>>/list")
        #expect(
            key(`Odd (v2).Name`(in: suite, identifier: "i"))?.hasSuffix("(v2)/Name`/number") == true)
    }

    #if os(macOS) || os(Linux)
        @Test func aCustomMirrorTraps() async {
            await #expect(processExitsWith: .failure) {
                final class Shown: StorableConfig, CustomReflectable {
                    @Stored var number = 1
                    var customMirror: Mirror { Mirror(self, children: []) }
                }
                _ = Shown(in: .inMemory())
            }
        }
    #endif

    @Test func classesOfOneNameThatWouldShareKeysAreReported() {
        func first(_ suite: DefaultsSuite) -> [String] {
            final class Local: StorableConfig { @Stored var number = 1 }
            return Local(in: suite, identifier: "app").allKeys
        }
        func second(_ suite: DefaultsSuite) -> [String] {
            final class Local: StorableConfig { @Stored var number = 1 }
            return Local(in: suite, identifier: "app").allKeys
        }
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        #expect(
            first(suite) == ["app/StorableConfigTests/Local/number"], "what differs from run to run is not in the key")
        #expect(failures.all == [])
        #expect(second(suite) == ["app/StorableConfigTests/Local/number"])
        #expect(failures.kinds == [.conflict])
    }

    #if os(macOS) || os(Linux)
        @Test func twoPropertiesUnderOneKeyTrap() async {
            await #expect(processExitsWith: .failure) {
                final class Twice: StorableConfig {
                    @Stored("same") var one = 1
                    @Stored("same") var other = 1
                }
                _ = Twice(in: .inMemory())
            }
        }
    #endif

    @Test func anAppendIsOneEvent() {
        let (config, suite, _) = make(AppConfig.init)
        let received = Heard { note in
            AppConfig(in: suite, identifier: "app").$selectedHobbies.observe { note($0.newValue) }
        }
        config.selectedHobbies.append("golf")
        config.userName = "kai"
        received.cancel()
        #expect(received.all == [["golf"]])
    }

    @Test func eachPropertyIsTracked() {
        let (config, suite, _) = make(AppConfig.init)
        let other = AppConfig(in: suite, identifier: "app")
        let fired = Guarded(0)
        fired.track { _ = config.userName }
        other.isFirstLaunch = false
        #expect(fired.withLock { $0 } == 0)
        other.userName = "kai"
        #expect(fired.withLock { $0 } == 1)
    }

    @Test func allValuesAndThoseThatDifferCanBeListed() {
        let (config, _, _) = make(TwitterConfig.init)
        #expect(config.changedValues == [:])
        config.userName = "kai"
        config.isVerified = false
        #expect(config.currentValues == ["app/TwitterConfig/userName": "kai", "app/TwitterConfig/isVerified": false])
        #expect(config.changedValues == ["app/TwitterConfig/userName": "kai"])
        config.userName = "guest"
        let list = SpecialConfig(in: .inMemory(), identifier: "app")
        list.list = [2, 1]
        #expect(list.changedValues == ["app/SpecialConfig/list": [2, 1]])
        #expect(config.changedValues == [:], "stored, but no other than the default")
    }

    final class CountsConfig: StorableConfig {
        struct Counts: DefaultConfig {
            static let key = "counts"
            var a = 0
            var b = 0
        }
        @Stored var counts = Counts()
    }

    /// Without `_modify`, an edit in place would be an assignment of the whole value.
    @Test func editsOfAConfigClassByTwoThreadsAreKept() {
        let (suite, rounds) = (DefaultsSuite.inMemory(), 500)
        onThreads(2) { index in
            let config = CountsConfig(in: suite, identifier: "app")
            for _ in 0..<rounds { if index == 0 { config.counts.a += 1 } else { config.counts.b += 1 } }
        }
        let counts = CountsConfig(in: suite, identifier: "app").counts
        #expect(counts.a == rounds && counts.b == rounds)
    }

    @Test func assignmentsBeforeSuperInitAreDefaultsAndLaterOnesAreStored() throws {
        final class Own: StorableConfig {
            @Stored var before = 1
            @Stored var without: Int
            @Stored var after = 3
            init(in suite: DefaultsSuite) {
                before = 10
                without = 20
                super.init(in: suite, identifier: "app")
                after = 30
            }
        }
        let suite = DefaultsSuite.inMemory()
        let config = Own(in: suite)
        #expect(config.before == 10 && config.without == 20 && config.after == 30)
        #expect(try suite.keys() == ["app/StorableConfigTests/Own/after"])
        config.reset()
        #expect(config.before == 10 && config.without == 20 && config.after == 3)
    }

    final class Forms: StorableConfig {
        @Stored("raw") var raw = DeclaredForms.Raw.one
        @Stored("optionalRaw") var optionalRaw: DeclaredForms.Raw?
        @Stored("converting") var converting = DeclaredForms.Converting(1)
        @Stored("optionalConverting") var optionalConverting: DeclaredForms.Converting?
        @Stored("both") var both = DeclaredForms.Both.zero
        @Stored("optionalBoth") var optionalBoth: DeclaredForms.Both?
        @Stored("optionalText") var optionalText: String?
    }

    @Test func storedPropertiesStoreTheFormOfTheirType() throws {
        let suite = DefaultsSuite.inMemory()
        let config = Forms(in: suite)
        #expect(config.raw == .one && config.optionalRaw == nil)
        #expect(config.converting.number == 1 && config.optionalConverting == nil)
        #expect(config.both == .zero && config.optionalBoth == nil)
        config.raw = .two
        config.optionalRaw = .two
        config.converting = DeclaredForms.Converting(2)
        config.optionalConverting = DeclaredForms.Converting(2)
        config.both = .one
        config.optionalBoth = .one
        #expect(try suite.contents() == DeclaredForms.stored)
        #expect(config.optionalText == nil)
        config.optionalText = "text"
        #expect(suite[DefaultKey<PropertyList?>("optionalText")] == "text")
    }
}
