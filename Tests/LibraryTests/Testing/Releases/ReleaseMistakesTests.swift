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

    private static func lines<Old, New>(_ old: DefaultKey<Old>, _ new: DefaultKey<New>) throws -> [String] {
        try lines(program([old]), program([new]))
    }

    /// The long text of the samples.
    private static let long = String(repeating: "0123456789", count: 10)

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

    @Test func anIntegerBecomesNarrower() throws {
        let (old, new) = (DefaultKey("count", default: 1), DefaultKey<Int16>("count", default: 1))
        #expect(
            try Self.lines(old, new) == [
                "! count: a user who chose -1000000000 gets 1", "! count: a user who chose 1000000000 gets 1",
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
        struct Unknown: Error {}
        var migrator = DefaultsMigrator()
        migrator.register("1.6: no grid") { contents in if contents[Camera.self].grid { throw Unknown() } }
        #expect(
            try Self.lines(Self.program(Camera.self), Self.program(Camera.self, migrator)) == [
                "! everything: the migration step “1.6: no grid” failed: it threw Unknown",
                "! grid = true: the migration step “1.6: no grid” failed: it threw Unknown",
            ])
    }

    @Test func aRuleOnTextsOrListsIsAdded() throws {
        func lines<Value: Codable & Sendable>(_ value: Value, _ rule: DefaultRule<Value>) throws -> [String] {
            try Self.lines(DefaultKey("p", default: value), DefaultKey("p", default: value, rule: rule))
        }
        let chose = "! p: a user who chose"
        #expect(try lines("a", DefaultRule("full") { !$0.isEmpty }) == ["\(chose) \"\" gets \"a\" (rule: full)"])
        let long = "\(chose) \"\(Self.long)\" gets \"a\" (rule: short)"
        #expect(try lines("a", DefaultRule("short") { $0.count < 100 }) == [long])
        #expect(try lines([1], DefaultRule("full") { !$0.isEmpty }) == ["\(chose) [] gets [1] (rule: full)"])
        let many = "\(chose) [1, 1, 1, 1, 1, 1, 1, 1, 1, 1] gets [1] (rule: few)"
        #expect(try lines([1], DefaultRule("few") { $0.count < 10 }) == [many])
    }

    @Test func aCaseInAListIsRemoved() throws {
        enum Old: String, Codable, CaseIterable { case small, huge }
        enum New: String, Codable, CaseIterable { case small }
        let (list, set) = (DefaultKey("sizes", default: [New.small]), DefaultKey("sizes", default: Set<New>()))
        let chose = "! sizes: a user who chose"
        #expect(
            try Self.lines(DefaultKey("sizes", default: [Old.small]), list) == [
                "\(chose) [\"small\", \"huge\"] gets [\"small\"]"
            ])
        #expect(
            try Self.lines(DefaultKey("sizes", default: Set<Old>()), set) == [
                "\(chose) [\"huge\", \"small\"] gets [\"small\"]"
            ])
        #expect(
            try Self.lines(DefaultKey<[Old]?>("sizes"), DefaultKey<[New]?>("sizes")) == [
                "\(chose) [\"small\", \"huge\"] gets nil"
            ])
    }

    /// Keys whose default has no parts have samples like properties of a config.
    @Test func anOptionalOrADictionaryIsAKey() throws {
        let (name, number) = (DefaultKey<String?>("name"), DefaultKey<Int?>("name"))
        #expect(try Self.lines(name, number).contains("! name: a user who chose \"text\" gets nil"))
        let (old, new) = (DefaultKey("d", default: [String: Int]()), DefaultKey("d", default: [String: String]()))
        #expect(try Self.lines(old, new) != [])
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
