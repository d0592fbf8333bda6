import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

extension DefaultKey<Int> {
    fileprivate static let volume = DefaultKey("volume", default: 5, rule: .clamped(to: 0...10))
    fileprivate static let port = DefaultKey("port", default: 8080, rule: .in(1024...65_535))
    fileprivate static let columns = DefaultKey(
        "columns", default: 2, rule: DefaultRule("even") { $0.isMultiple(of: 2) })
}

extension DefaultKey<String> {
    fileprivate static let theme = DefaultKey("theme", default: "light", rule: .oneOf(["light", "dark"]))
}

private struct Lens: DefaultConfig, Equatable {
    static let key = "Lens"
    static let rules: [DefaultRule<Lens>] = [.on(\.zoom, .clamped(to: 1...10)), .on(\.aperture, .in(1.4...22))]
    var zoom = 1.0
    var aperture = 2.8
    var name = ""
}

/// The correction of the second rule can break the first one.
private struct Span: DefaultConfig, Equatable {
    static let key = "Span"
    static let rules: [DefaultRule<Span>] = [
        DefaultRule("low before high") { $0.low <= $0.high }, .on(\.high, .clamped(to: 0...5)),
    ]
    var low = 1
    var high = 3
}

struct DefaultRuleTests {
    @Test func theRulesOfAConfigHoldForAnOptionalAsJSON() throws {
        let suite = DefaultsSuite.inMemory()
        let setting = UserDefault(DefaultKey<Lens?>("lens", default: nil, form: .jsonData), in: suite)
        #expect(fails(with: .invalid) { try setting.update { $0 = Lens(aperture: 99) } })
        setting.value = Lens(zoom: 99)
        #expect(setting.value == Lens(zoom: 10))
        setting.value = nil
        #expect(try suite.contents().isEmpty)
        let failures = Failures(of: suite)
        try suite.update { $0["lens"] = .data(Data(#"{"zoom": 2, "aperture": 99, "name": "a"}"#.utf8)) }
        #expect(setting.value == Lens(zoom: 2, name: "a"))
        #expect(failures.kinds == [.unreadable])
        try suite.update { $0["lens"] = .data(Data("null".utf8)) }
        #expect(setting.value == nil)
        #expect(failures.kinds == [.unreadable])
        // An earlier release had no name.
        try suite.update { $0["lens"] = .data(Data(#"{"zoom": 2, "aperture": 4}"#.utf8)) }
        #expect(setting.value == Lens(zoom: 2, aperture: 4))
    }

    @Test(arguments: Backend.allCases)
    func aCorrectionDoesNotGetPastAnotherRule(backend: Backend) throws {
        try backend.withSuite { suite in
            let failures = Failures(of: suite)
            let store = PersistentStore<Span>(in: suite)
            #expect(fails(with: .invalid) { try store.save(Span(low: 8, high: 9)) })
            #expect(fails(with: .invalid) { try store.update { ($0.low, $0.high) = (8, 9) } })
            #expect(try suite.contents().isEmpty)
            try store.save(Span(low: 4, high: 9))
            #expect(try suite.contents() == ["Span": ["low": 4, "high": 5]])
            #expect(failures.all.isEmpty)

            try suite.update { $0["Span"] = ["low": 8, "high": 9] }
            #expect(store.value == Span())
            #expect(failures.kinds == [.unreadable])
            try store.update { $0.low = 2 }
            #expect(
                try suite.contents() == [
                    "Span": ["low": 2], "Span.unreadable": ["low": 8, "high": 9],
                ])
        }
    }

    @Test func theErrorNamesKeyAndRuleButNotTheValue() throws {
        let suite = DefaultsSuite.inMemory()
        func text(_ body: () throws -> Void) -> String {
            do { try body() } catch { return "\(error)" }
            return ""
        }
        #expect(
            text { try UserDefault(.theme, in: suite).store.save("pink") }
                == "invalid “theme” (String): the value must be one of light, dark")
        #expect(
            text { try suite.update(.columns) { $0 = 4711 } } == "invalid “columns” (Int): the value must be even")
        #expect(
            text { try PersistentStore<Lens>(in: suite).save(Lens(aperture: 99)) }
                == "invalid “Lens” (Lens) at aperture: the value must be in 1.4...22.0")
        #expect(DefaultRule<Int>.clamped(to: 0...10).description == "in 0...10")
    }

    /// Every way to write 4711, which the rule of the port accepts and the others refuse, or clamp.
    private static let writes: [String: @Sendable (DefaultsSuite, DefaultKey<Int>) throws -> Void] = [
        "subscript": { $0[$1] = 471_100 },
        "update": { suite, key in try suite.update(key) { $0 = 471_100 } },
        "setting": { UserDefault($1, in: $0).value = 471_100 },
        "setting update": { suite, key in try UserDefault(key, in: suite).update { $0 = 471_100 } },
        "store": { UserDefault($1, in: $0).store.set(471_100) },
        "save": { try UserDefault($1, in: $0).store.save(471_100) },
        "updateStored": { suite, key in try UserDefault(key, in: suite).store.updateStored { $0 = 471_100 } },
        "update with a default": { suite, key in
            try UserDefault(key, in: suite).store.update(default: 3) { $0 = 471_100 }
        },
        "decorator": { suite, key in Decorated(base: UserDefault(key, in: suite).store).set(471_100) },
        "decorator update": { suite, key in
            try Decorated(base: UserDefault(key, in: suite).store).update(default: 0) { $0 = 471_100 }
        },
        "contents": { suite, key in try suite.update { $0[key] = 471_100 } },
        "migration": { suite, key in
            var migrator = DefaultsMigrator()
            migrator.register("step") { $0[key] = 471_100 }
            try suite.migrate(migrator)
        },
        "raw": { suite, key in try suite.update { $0[key.name] = 471_100 } },
        "import": { suite, key in
            try suite.replaceContents(with: SuiteContents(json: Data(#"{"\#(key.name)": 471100}"#.utf8)))
        },
        "another declaration": { suite, key in suite[DefaultKey(key.name, default: 0)] = 471_100 },
        "layer": { suite, key in suite.layers = [.arguments(["-\(key.name)", "471100"]), .stored] },
    ]

    @Test(arguments: writes.keys.sorted(), Backend.allCases)
    func noWriteGetsPastARule(way: String, backend: Backend) throws {
        let write = try #require(Self.writes[way])
        try backend.withSuite { suite in
            suite.onFailure = { _ in }
            for (key, expected) in [(DefaultKey.volume, 10), (.port, 8080)] {
                do { try write(suite, key) } catch { #expect((error as? DefaultsError)?.kind == .invalid) }
                #expect(suite[key] == expected)
                #expect(UserDefault(key, in: suite).value == expected)
                #expect(UserDefault(key, in: suite).store.get() ?? key.defaultValue == expected)
                #expect((try? suite.read(key)) ?? key.defaultValue == expected)
                let contents = try suite.contents()
                #expect(contents[key] == expected || way == "layer")
                try suite.update { #expect($0[key] == expected || way == "layer") }
                let values = Heard { note in suite.observe(key, initial: true) { note($0.newValue) } }
                #expect(values.all == [expected])
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func aStoredValueIsCorrectedReportedOnceAndCopied(backend: Backend) throws {
        try backend.withSuite { suite in
            try suite.update {
                $0["volume"] = 4711
                $0["port"] = 4_711_000
            }
            let failures = Failures(of: suite)
            for _ in 0..<3 {
                #expect(suite[.volume] == 10)
                #expect(suite[.port] == 8080)
            }
            #expect(failures.all.map(\.key) == ["volume", "port"])
            #expect(failures.kinds == [.unreadable, .unreadable])
            #expect(!"\(failures.all)".contains("4711"))
            suite[.volume] = 3
            try suite.update(.port) { $0 = 2000 }
            #expect(suite[.volume] == 3)
            #expect(suite[.port] == 2000)
            #expect(
                try suite.contents() == [
                    "volume": 3, "volume.unreadable": 4711, "port": 2000, "port.unreadable": 4_711_000,
                ])
        }
    }

    @Test(arguments: Backend.allCases)
    func aConfigIsCheckedPropertyByProperty(backend: Backend) throws {
        try backend.withSuite { suite in
            let stored: PropertyList = ["zoom": 99.0, "aperture": 0.5, "name": "Ann", "other": 1]
            try suite.update { $0["Lens"] = stored }
            let failures = Failures(of: suite)
            let store = PersistentStore<Lens>(in: suite)
            #expect(store.value == Lens(zoom: 10, aperture: 2.8, name: "Ann"))
            #expect(store.value == Lens(zoom: 10, aperture: 2.8, name: "Ann"))
            #expect(failures.all.map(\.path) == [["zoom"], ["aperture"]])

            #expect(fails(with: .invalid) { try store.update { $0.aperture = 0 } })
            #expect(try suite.contents() == ["Lens": stored])
            try store.update { $0.zoom = 0 }
            #expect(store.value == Lens(zoom: 1, aperture: 2.8, name: "Ann"))
            // As an entry of another type, a property that breaks a rule stays until it is changed.
            #expect(
                try suite.contents() == [
                    "Lens": ["zoom": 1.0, "aperture": 0.5, "name": "Ann", "other": 1], "Lens.unreadable": stored,
                ])
        }
    }

    /// Every way to write an aperture that is refused.
    private static let configWrites: [String: @Sendable (DefaultsSuite) throws -> Void] = [
        "save": { try PersistentStore<Lens>(in: $0).save(Lens(aperture: 99)) },
        "update": { suite in try PersistentStore<Lens>(in: suite).update { $0.aperture = 99 } },
        "updateStored": { suite in
            try PersistentStore<Lens>(in: suite).updateStored { $0 = Lens(aperture: 99) }
        },
        "another key": { try PersistentStore<Lens>(in: $0, key: "Lens").save(Lens(aperture: 99)) },
        "default key": { suite in
            try suite.update(DefaultKey("Lens", default: Lens())) { $0.aperture = 99 }
        },
        "optional": { suite in
            try suite.update(DefaultKey<Lens?>("Lens", default: Lens())) { $0?.aperture = 99 }
        },
        "contents": { suite in try suite.update { $0[Lens.self].aperture = 99 } },
        "contents, stored": { suite in try suite.update { $0[stored: Lens.self] = Lens(aperture: 99) } },
        "map": { suite in try PersistentStore<Lens>(in: suite).map(\.aperture).save(99) },
        "decorator": { suite in try Decorated(base: AnyStore<Lens>.persistent(in: suite)).update { $0.aperture = 99 } },
    ]

    @Test(arguments: configWrites.keys.sorted(), Backend.allCases)
    func noWriteOfAConfigGetsPastARule(way: String, backend: Backend) throws {
        let write = try #require(Self.configWrites[way])
        try backend.withSuite { (suite) throws in
            #expect(fails(with: .invalid) { try write(suite) })
            #expect(try suite.contents().isEmpty)
            #expect(PersistentStore<Lens>(in: suite).value == Lens())
        }
    }

    @Test func wrappersAndSettingsTakeARule() throws {
        struct Holder { @UserDefault("volume", rule: .clamped(to: 0...10), in: .inMemory()) var volume = 5 }
        let holder = Holder()
        holder.volume = 11
        #expect(holder.volume == 10)
        let suite = DefaultsSuite.inMemory()
        let setting = UserDefault("port", default: 8080, rule: .in(1...9000), in: suite)
        #expect(fails(with: .invalid) { try setting.update { $0 = 0 } })
    }

    @Test func rulesHoldForJSONDataAndForOptionals() throws {
        let suite = DefaultsSuite.inMemory()
        let json = DefaultKey("json", default: 1, form: .jsonData, rule: .in(0...9))
        #expect(fails(with: .invalid) { try suite.update(json) { $0 = 10 } })
        suite[json] = 9
        #expect(suite[json] == 9)
        let optional = DefaultKey<Int?>(
            "optional", default: nil, rule: DefaultRule("even") { $0?.isMultiple(of: 2) ?? true })
        suite[optional] = 4
        #expect(fails(with: .invalid) { try suite.update(optional) { $0 = 5 } })
        #expect(suite[optional] == 4)
        suite[optional] = nil
        #expect(try suite.contents()["optional"] == nil)
    }

    @Test func notANumberIsRefused() {
        let suite = DefaultsSuite.inMemory()
        for rule in [DefaultRule<Double>.in(0...1), .clamped(to: 0...1)] {
            let key = DefaultKey("x", default: 0.5, rule: rule)
            #expect(fails(with: .invalid) { try suite.update(key) { $0 = .nan } })
            #expect(suite[key] == 0.5)
        }
    }
}
