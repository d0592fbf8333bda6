import Foundation
import Testing
import TypedDefaults

@testable import TypedDefaultsTesting

/// Mistakes of real programs, each in the second of two releases.
struct ReleaseMistakesTests {
    struct Camera: DefaultConfig {
        static let key = "Camera"
        enum Size: String, Codable, CaseIterable { case small, medium, huge }
        struct Lens: Codable, Sendable {
            var focus = 5
            var curve = "b"
        }
        var zoom = 1.0
        var size = Size.medium
        var grid = false
        var lens = Lens()
    }

    private static func program(
        _ settings: [any ReleasedSetting], _ migrator: DefaultsMigrator = DefaultsMigrator(),
        samples: [String: (inout SuiteContents) throws -> Void] = [:]
    ) -> ReleasedProgram {
        ReleasedProgram(settings: settings, migrator: migrator, customSamples: samples)
    }

    private static func program<Config: DefaultConfig>(
        _ config: Config.Type, _ migrator: DefaultsMigrator = DefaultsMigrator(),
        samples: [String: (inout SuiteContents) throws -> Void] = [:]
    ) -> ReleasedProgram {
        program([DefaultKey(config)], migrator, samples: samples)
    }

    private static func lines(_ old: ReleasedProgram, _ new: ReleasedProgram) throws -> [String] {
        try ReleaseComparison(new, from: ReleaseRecord(of: old), to: ReleaseRecord(of: new)).lines.sorted()
    }

    /// The long text of the samples.
    private static let long = String(repeating: "0123456789", count: 10)

    private let camera = program(Camera.self, samples: ["a pro": { $0[Camera.self].zoom = 8 }])

    @Test func theSameTypesHaveNoLines() throws { #expect(try Self.lines(camera, camera) == []) }

    @Test func aDefaultIsChanged() throws {
        struct New: DefaultConfig {
            static let key = "Camera"
            var zoom = 2.0
            var size = Camera.Size.medium
            var grid = false
            var lens = Camera.Lens()
        }
        let expected = "~ zoom: a user who never chose it gets 2.0 instead of 1.0"
        #expect(try Self.lines(camera, Self.program(New.self)) == [expected])
    }

    @Test func aCaseIsRenamed() throws {
        struct New: DefaultConfig {
            static let key = "Camera"
            enum Size: String, Codable, CaseIterable { case small, medium, large }
            var zoom = 1.0
            var size = Size.medium
            var grid = false
            var lens = Camera.Lens()
        }
        #expect(
            try Self.lines(camera, Self.program(New.self)) == [
                "! size: a user who chose \"huge\" gets \"medium\"",
                "< size: a user who chooses \"large\" and downgrades loses it",
            ])
    }

    @Test func aRuleIsAdded() throws {
        struct New: DefaultConfig {
            static let key = "Camera"
            static let rules: [DefaultRule<New>] = [.on(\.zoom, .clamped(to: 1...4))]
            var zoom = 1.0
            var size = Camera.Size.medium
            var grid = false
            var lens = Camera.Lens()
        }
        #expect(
            try Self.lines(camera, Self.program(New.self)) == [
                "! zoom: a user who chose -1000000000.0 gets 1.0 (rule: in 1.0...4.0)",
                "! zoom: a user who chose 1000000000.0 gets 4.0 (rule: in 1.0...4.0)",
                "! zoom: a user who chose 8.0 gets 4.0 (rule: in 1.0...4.0)",
            ])
    }

    @Test func aRuleIsMadeStricter() throws {
        let old = DefaultKey("port", default: 8080, rule: .in(1...65_535))
        let new = DefaultKey("port", default: 8080, rule: .in(1024...65_535))
        #expect(
            try Self.lines(Self.program([old]), Self.program([new])) == [
                "! port: a user who chose 1 gets 8080 (rule: in 1024...65535)"
            ])
        #expect(
            try Self.lines(Self.program([new]), Self.program([old])) == [
                "< port: a user who chooses 1 and downgrades loses it"
            ])
    }

    @Test func aPropertyIsRemoved() throws {
        struct New: DefaultConfig {
            static let key = "Camera"
            var zoom = 1.0
            var size = Camera.Size.medium
            var lens = Camera.Lens()
        }
        #expect(try Self.lines(camera, Self.program(New.self)) == ["- grid: no longer read, stays stored"])
    }

    @Test func aPropertyIsRenamed() throws {
        struct New: DefaultConfig {
            static let key = "Camera"
            var zoom = 1.0
            var size = Camera.Size.medium
            var showsGrid = false
            var lens = Camera.Lens()
        }
        #expect(
            try Self.lines(camera, Self.program(New.self)) == ["+ showsGrid", "- grid: no longer read, stays stored"])
        var migrator = DefaultsMigrator()
        migrator.register("1.6: showsGrid") { contents in
            guard case .dictionary(var entries)? = contents["Camera"] else { return }
            entries["showsGrid"] = entries.removeValue(forKey: "grid")
            contents["Camera"] = .dictionary(entries)
        }
        #expect(
            try Self.lines(camera, Self.program(New.self, migrator)) == [
                "+ showsGrid", "+ showsGrid: a user who chose grid = true gets true",
                "- grid: no longer read, removed by the migration",
                "< grid: a user who chose true loses it after an update and a downgrade",
            ])
    }

    @Test func aPropertyIsSplit() throws {
        struct Old: DefaultConfig {
            static let key = "Page"
            var margins = "20"
        }
        struct New: DefaultConfig {
            static let key = "Page"
            var left = 20
            var right = 20
        }
        #expect(
            try Self.lines(Self.program(Old.self), Self.program(New.self)) == [
                "+ left", "+ right", "- margins: no longer read, stays stored",
            ])
        // The migration forgets one of the two.
        var migrator = DefaultsMigrator()
        migrator.register("2.0: two margins") { contents in
            guard
                case .string(let margins)? = try contents.read(
                    DefaultKey<[String: PropertyList]>("Page", default: [:]))["margins"]
            else { return }
            contents["Page"] = ["left": .integer(Int64(margins) ?? 0)]
        }
        let old = Self.program(Old.self, samples: ["wide": { $0[Old.self].margins = "40" }])
        #expect(
            try Self.lines(old, Self.program(New.self, migrator)) == [
                "+ left", "+ left: a user who chose margins = \"\" gets 0",
                "+ left: a user who chose margins = \"\(Self.long)\" gets 0",
                "+ left: a user who chose margins = \"text\" gets 0", "+ left: “wide” gets 40", "+ right",
                "- margins: no longer read, removed by the migration",
                "< margins: a user who chose \"\" loses it after an update and a downgrade",
                "< margins: a user who chose \"\(Self.long)\" loses it after an update and a downgrade",
                "< margins: a user who chose \"40\" loses it after an update and a downgrade",
                "< margins: a user who chose \"text\" loses it after an update and a downgrade",
            ])
    }

    @Test func anIntegerBecomesAString() throws {
        let (old, new) = (DefaultKey("port", default: 80), DefaultKey("port", default: "http"))
        let found = try Self.lines(Self.program([old]), Self.program([new]))
        #expect(found.contains("~ port: a user who never chose it gets \"http\" instead of 80"))
        #expect(found.contains("! port: a user who chose 81 gets \"http\""))
        #expect(found.contains("< port: a user who chooses \"text\" and downgrades loses it"))
    }

    @Test func anIntegerBecomesNarrower() throws {
        let (old, new) = (DefaultKey("count", default: 1), DefaultKey<Int16>("count", default: 1))
        #expect(
            try Self.lines(Self.program([old]), Self.program([new])) == [
                "! count: a user who chose -1000000000 gets 1", "! count: a user who chose 1000000000 gets 1",
            ])
    }

    @Test func aNestedStructBecomesFlat() throws {
        struct New: DefaultConfig {
            static let key = "Camera"
            var zoom = 1.0
            var size = Camera.Size.medium
            var grid = false
            var focus = 5
            var curve = "b"
        }
        #expect(
            try Self.lines(camera, Self.program(New.self)) == [
                "+ curve", "+ focus", "- lens.curve: no longer read, stays stored",
                "- lens.focus: no longer read, stays stored",
            ])
    }

    @Test func aDefaultInAStructIsChanged() throws {
        struct New: DefaultConfig {
            static let key = "Camera"
            struct Lens: Codable, Sendable {
                var focus = 5
                var curve = "a"
            }
            var zoom = 1.0
            var size = Camera.Size.medium
            var grid = false
            var lens = Lens()
        }
        #expect(
            try Self.lines(camera, Self.program(New.self)) == [
                "! lens.curve: a user who chose lens gets \"b\"; every other user gets \"a\"",
                "~ lens.curve: a user who never chose it gets \"a\" instead of \"b\"",
            ])
    }

    @Test func aKeyIsRenamed() throws {
        struct New: DefaultConfig {
            static let key = "Preferences"
            var grid = false
        }
        struct Old: DefaultConfig {
            static let key = "Settings"
            var grid = false
        }
        #expect(
            try Self.lines(Self.program(Old.self), Self.program(New.self)) == [
                "+ grid", "- Settings.grid: no longer read, stays stored",
            ])
        var migrator = DefaultsMigrator()
        migrator.register("2.0: Preferences") { $0.rename("Settings", to: "Preferences") }
        #expect(
            try Self.lines(Self.program(Old.self), Self.program(New.self, migrator)) == [
                "+ grid", "+ grid: a user who chose grid = true gets true",
                "- Settings.grid: no longer read, removed by the migration",
                "< Settings.grid: a user who chose true loses it after an update and a downgrade",
            ])
    }

    @Test func aStepOfAMigrationThrows() throws {
        struct New: DefaultConfig {
            static let key = "Camera"
            var zoom = 1.0
            var size = Camera.Size.medium
            var grid = false
            var lens = Camera.Lens()
        }
        struct Unknown: Error {}
        var migrator = DefaultsMigrator()
        migrator.register("1.6: no grid") { contents in if contents[New.self].grid { throw Unknown() } }
        #expect(
            try Self.lines(camera, Self.program(New.self, migrator)) == [
                "! everything: the migration step “1.6: no grid” failed: it threw Unknown",
                "! grid = true: the migration step “1.6: no grid” failed: it threw Unknown",
            ])
    }

    @Test func anOptionalGetsADefault() throws {
        struct Old: DefaultConfig {
            static let key = "Camera"
            var name: String?
            var count: Int?
        }
        struct New: DefaultConfig {
            static let key = "Camera"
            var name = "camera"
            var count: Int?
        }
        #expect(
            try Self.lines(Self.program(Old.self), Self.program(New.self)) == [
                "~ name: a user who never chose it gets \"camera\" instead of nil"
            ])
    }

    @Test func aRuleOnTextsOrListsIsAdded() throws {
        func lines<Value: Codable & Sendable>(_ value: Value, _ rule: DefaultRule<Value>) throws -> [String] {
            let (old, new) = (DefaultKey("p", default: value), DefaultKey("p", default: value, rule: rule))
            return try Self.lines(Self.program([old]), Self.program([new]))
        }
        #expect(
            try lines("a", DefaultRule("not empty") { !$0.isEmpty }) == [
                "! p: a user who chose \"\" gets \"a\" (rule: not empty)"
            ])
        #expect(
            try lines("a", DefaultRule("short") { $0.count < 100 }) == [
                "! p: a user who chose \"\(Self.long)\" gets \"a\" (rule: short)"
            ])
        #expect(
            try lines([1], DefaultRule("not empty") { !$0.isEmpty }) == [
                "! p: a user who chose [] gets [1] (rule: not empty)"
            ])
        #expect(
            try lines([1], DefaultRule("few") { $0.count < 10 }) == [
                "! p: a user who chose [1, 1, 1, 1, 1, 1, 1, 1, 1, 1] gets [1] (rule: few)"
            ])
    }

    @Test func aCaseInAListIsRemoved() throws {
        enum Old: String, Codable, CaseIterable { case small, huge }
        enum New: String, Codable, CaseIterable { case small }
        func lines<One, Other>(_ old: DefaultKey<One>, _ new: DefaultKey<Other>) throws -> [String] {
            try Self.lines(Self.program([old]), Self.program([new]))
        }
        let (key, set) = (DefaultKey("sizes", default: [New.small]), DefaultKey("sizes", default: Set<New>()))
        let text = "! sizes: a user who chose [\"small\", \"huge\"] gets [\"small\"]"
        #expect(try lines(DefaultKey("sizes", default: [Old.small]), key) == [text])
        #expect(
            try lines(DefaultKey("sizes", default: Set<Old>()), set) == [
                "! sizes: a user who chose [\"huge\", \"small\"] gets [\"small\"]"
            ])
        #expect(
            try lines(DefaultKey<[Old]?>("sizes"), DefaultKey<[New]?>("sizes")) == [
                "! sizes: a user who chose [\"small\", \"huge\"] gets nil"
            ])
    }

    /// Keys whose default has no parts have samples like properties of a config.
    @Test func anOptionalOrADictionaryIsAKey() throws {
        let (name, number) = (DefaultKey<String?>("name"), DefaultKey<Int?>("name"))
        #expect(
            try Self.lines(Self.program([name]), Self.program([number])).contains(
                "! name: a user who chose \"text\" gets nil"))
        let (old, new) = (DefaultKey("d", default: [String: Int]()), DefaultKey("d", default: [String: String]()))
        #expect(try Self.lines(Self.program([old]), Self.program([new])) != [])
        #expect(try ReleaseRecord(of: Self.program([name, old])).unsampled == [])
    }

    @Test func greatNumbersAreNoSamples() throws {
        struct Great: DefaultConfig {
            static let key = "Great"
            var most = Int.max
            var least = Int.min
            var total = UInt64.max
            var ratio = Double.infinity
            var none = Double.nan
        }
        #expect(try Self.lines(Self.program(Great.self), Self.program(Great.self)) == [])
    }

    /// In one process, a config has one default. `fixed` makes new instances, as another one does.
    @Test func aRandomDefaultIsFixedAtEachDepth() throws {
        struct Part: Codable {
            var id = UUID()
            var name = ""
        }
        struct Item: DefaultConfig {
            static let key = "Item"
            var id = UUID()
            var created = Date()
            var parts = [Part()]
        }
        struct List: DefaultConfig {
            static let key = "List"
            var items: [Item] = []
            var last: Item?
            var named: [String: Item] = [:]
            var begun = [Item(), Item()]
            var nested: [String: [Item]] = ["all": [Item()]]
            var ids: Set<UUID> = [UUID(), UUID()]
            var levels = [UUID().uuidString: 1]
            var seed = Int.random(in: 1...1_000_000)
            var ratio = Double.random(in: 2...3)
        }
        let list = DefaultKey(List.self)
        #expect(list.fixed == list.fixed)
        let record = try ReleaseRecord(of: Self.program(List.self))
        #expect(try ReleaseRecord(of: Self.program(List.self)) == record)
        #expect(record.unsampled == [])
        for name in ["items", "last", "named"] {
            #expect(record.samples.contains { $0.name.hasPrefix("\(name) = ") && $0.name.contains("created") })
        }
    }

    @Test func aNumberBecomesAnEnumWithValues() throws {
        struct Old: DefaultConfig {
            static let key = "Table"
            var columns = 3
        }
        struct New: DefaultConfig {
            static let key = "Table"
            enum Columns: Codable {
                case automatic
                case fixed(Int)
                init(from decoder: any Decoder) throws {
                    if let count = try? decoder.singleValueContainer().decode(Int.self) {
                        self = .fixed(count)
                    } else {
                        let count = try decoder.singleValueContainer().decode([String: Int].self)["fixed"]
                        self = count.map(Self.fixed) ?? .automatic
                    }
                }
                func encode(to encoder: any Encoder) throws {
                    var container = encoder.singleValueContainer()
                    if case .fixed(let count) = self {
                        try container.encode(["fixed": count])
                    } else {
                        try container.encode(["automatic": 1])
                    }
                }
            }
            var columns = Columns.automatic
        }
        let lines = try Self.lines(Self.program(Old.self), Self.program(New.self))
        #expect(lines.contains("- columns: now read as columns.fixed"))
        #expect(lines.contains("+ columns.fixed: a user who chose columns = 4 gets 4"))
    }

    @Test func samplesAreFoundForManyTypes() throws {
        enum Mode: Codable, CaseIterable { case photo, video }
        enum Shape: Codable {
            case round
            case square(side: Int)
        }
        struct Many: DefaultConfig {
            static let key = "Many"
            var url = URL(string: "https://example.org")!
            var identifier = UUID()
            var date = Date(timeIntervalSinceReferenceDate: 1)
            var data = Data([9])
            var tags: [String] = []
            var counts: [String: Int] = [:]
            var mode = Mode.photo
            var mayBe: Mode?
            var lens: Camera?
            var ratio: Double?
            var days: Set<Int> = [1]
            var shape = Shape.square(side: 1)
            var price = Decimal(5)
            var small: UInt8 = 3
            var word = Word.one
            enum Word: String, Codable { case one, two }
        }
        let record = try ReleaseRecord(of: Self.program(Many.self))
        #expect(record.unsampled == ["Many.word"])
        #expect(
            record.cases == [
                "Many.mode": [["photo": [:]], ["video": [:]]], "Many.mayBe": [["photo": [:]], ["video": [:]]],
            ])
        #expect(
            record.samples.map(\.name).filter { $0.hasPrefix("small") }.sorted() == [
                "small = 0", "small = 255", "small = 4",
            ])
    }
}
