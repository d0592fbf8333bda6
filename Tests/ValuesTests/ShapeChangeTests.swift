import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

private enum Mode: String, Codable, Equatable { case photo, video }
private enum Level: Int, Codable, Equatable { case low, high }
private struct Point: Codable, Equatable {
    var x = 0
    var y = 0
}

/// A setting that is declared with a type other than the stored one: the rows of the tables in
/// *Changing your settings over the years*.
struct ShapeChangeTests {
    /// The new type reads the value that the old type stored, without a failure, and replaces it
    /// without a copy. With `back`, the old type reads the value that the new one stored.
    private func expectAutomatic<Old: Codable & Sendable & Equatable, New: Codable & Sendable & Equatable>(
        _ stored: Old, reads value: New, default defaultValue: New, then next: New, back: Old? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let older = DefaultsSuite.inMemory()
        older[DefaultKey("a", default: stored)] = stored
        let suite = try copy(of: older)
        let failures = Failures(of: suite)
        let key = DefaultKey("a", default: defaultValue)
        #expect(suite[key] == value, sourceLocation: sourceLocation)
        suite[key] = next
        #expect(suite[key] == next, sourceLocation: sourceLocation)
        #expect(try suite.keys() == ["a"], "nothing is set aside", sourceLocation: sourceLocation)
        #expect(failures.all.isEmpty, sourceLocation: sourceLocation)
        if let back {
            #expect(try copy(of: suite)[DefaultKey("a", default: stored)] == back, sourceLocation: sourceLocation)
        }
    }

    /// The new type reads its default, and a write sets the stored value aside. A step of a
    /// migration converts the value instead.
    private func expectStep<Old: Codable & Sendable & Equatable, New: Codable & Sendable & Equatable>(
        _ stored: Old, default defaultValue: New, then next: New, becomes value: New,
        by convert: @escaping @Sendable (Old) -> New, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let older = DefaultsSuite.inMemory()
        let (old, key) = (DefaultKey<Old?>("a"), DefaultKey("a", default: defaultValue))
        older[old] = stored
        let suite = try copy(of: older)
        let failures = Failures(of: suite)
        #expect(suite[key] == defaultValue, sourceLocation: sourceLocation)
        #expect(failures.kinds == [.unreadable], sourceLocation: sourceLocation)
        suite[key] = next
        #expect(suite[key] == next, sourceLocation: sourceLocation)
        #expect(
            try suite.contents()["a.unreadable"] == older.contents()["a"], sourceLocation: sourceLocation)

        var migrator = DefaultsMigrator()
        migrator.register("2.0: another type") { contents in
            if let value = try contents.read(old) { contents[key] = convert(value) }
        }
        let migrated = try copy(of: older)
        let migrationFailures = Failures(of: migrated)
        try migrated.migrate(migrator)
        #expect(migrated[key] == value, sourceLocation: sourceLocation)
        #expect(try migrated.keys() == ["a"], sourceLocation: sourceLocation)
        #expect(migrationFailures.all.isEmpty, sourceLocation: sourceLocation)
    }

    /// A suite with the same values that knows no declarations.
    private func copy(of suite: DefaultsSuite) throws -> DefaultsSuite {
        let copy = DefaultsSuite.inMemory()
        try copy.replaceContents(with: suite.contents())
        return copy
    }

    @Test func theNewTypeReadsAndReplacesTheOldValue() throws {
        try expectAutomatic(Int8(5), reads: Int64(5), default: 0, then: 6, back: 6)
        try expectAutomatic(5, reads: UInt8(5), default: 0, then: 255, back: 255)
        try expectAutomatic(5, reads: 5.0, default: 0, then: 6.0, back: 6)
        try expectAutomatic(5.0, reads: 5, default: 0, then: 6, back: 6.0)
        try expectAutomatic(Float(0.5), reads: 0.5, default: 0, then: 0.25, back: 0.25)
        try expectAutomatic(0.1, reads: Float(0.1), default: 0, then: 0.25, back: 0.25)
        try expectAutomatic(0.1, reads: Decimal(string: "0.1"), default: nil, then: Decimal(2))
        try expectAutomatic(1, reads: true, default: false, then: false)
        try expectAutomatic("video", reads: Mode.video, default: .photo, then: .photo, back: "photo")
        try expectAutomatic(Mode.video, reads: "video", default: "", then: "photo", back: .photo)
        try expectAutomatic(1, reads: Level.high, default: .low, then: .low, back: 0)
        try expectAutomatic(Level.high, reads: 1, default: 0, then: 0, back: .low)
        let url = try #require(URL(string: "https://example.com/a"))
        try expectAutomatic("https://example.com/a", reads: url, default: URL(filePath: "/"), then: url, back: "\(url)")
        let id = UUID()
        try expectAutomatic(id.uuidString, reads: id, default: UUID(), then: id, back: id.uuidString)
        try expectAutomatic([2, 1], reads: Set([1, 2]), default: [], then: [3], back: [3])
        try expectAutomatic(Set([1, 2]), reads: [1, 2], default: [], then: [3], back: [3])
        try expectAutomatic(
            ["x": 1, "y": 2], reads: Point(x: 1, y: 2), default: Point(), then: Point(x: 3), back: ["x": 3, "y": 0])
        try expectAutomatic(
            Point(x: 1, y: 2), reads: ["x": 1, "y": 2], default: [:], then: ["x": 3], back: Point(x: 3, y: 2))
        try expectAutomatic(Int?.some(5), reads: 5, default: 1, then: 2, back: 2)
        try expectAutomatic(5, reads: Int?.some(5), default: nil, then: 2, back: 2)
        enum Name: String, Codable, CodingKeyRepresentable { case photo, video }
        try expectAutomatic(
            ["photo": 1], reads: [Name.photo: 1], default: [:], then: [.video: 2], back: ["video": 2])
    }

    @Test func aStepConvertsAValueThatIsOtherwiseSetAside() throws {
        try expectStep(300, default: UInt8(1), then: 2, becomes: 255) { UInt8(clamping: $0) }
        try expectStep(5.5, default: 1, then: 2, becomes: 5) { Int($0) }
        try expectStep(true, default: 5, then: 6, becomes: 1) { $0 ? 1 : 0 }
        try expectStep(5, default: "a", then: "b", becomes: "5") { "\($0)" }
        try expectStep("5", default: 1, then: 2, becomes: 5) { Int($0) ?? 1 }
        try expectStep(Decimal(5), default: 1.0, then: 2, becomes: 5) { Double("\($0)") ?? 1 }
        try expectStep(
            5.0, default: Date(timeIntervalSince1970: 0), then: .distantPast,
            becomes: Date(timeIntervalSinceReferenceDate: 5)
        ) {
            Date(timeIntervalSinceReferenceDate: $0)
        }
        try expectStep("a", default: ["b"], then: [], becomes: ["a"]) { [$0] }
        try expectStep(["a", "b"], default: "c", then: "d", becomes: "a") { $0.first ?? "c" }
        enum Source: Codable, Equatable {
            case camera
            case file(String)
        }
        try expectStep("camera", default: Source.file("a"), then: .file("b"), becomes: .camera) {
            $0 == "camera" ? .camera : .file($0)
        }
        // `Codable` writes such a dictionary as an array of keys and values in turn.
        try expectStep(["photo": 1], default: [Mode: Int](), then: [.video: 2], becomes: [.photo: 1]) { old in
            Dictionary(uniqueKeysWithValues: old.compactMap { name, value in Mode(rawValue: name).map { ($0, value) } })
        }
        try expectStep([Mode.photo: 1], default: [String: Int](), then: ["video": 2], becomes: ["photo": 1]) { old in
            Dictionary(uniqueKeysWithValues: old.map { ($0.rawValue, $1) })
        }
        try expectStep(Date(timeIntervalSinceReferenceDate: 5), default: 1.0, then: 2, becomes: 5) {
            $0.timeIntervalSinceReferenceDate
        }
        try expectStep("hologram", default: Mode.photo, then: .video, becomes: .video) { _ in .video }
    }

    @Test func aNilThatBecomesRequiredReadsAsTheDefault() throws {
        struct Old: Codable, Sendable { var name: String? }
        struct New: Codable, Sendable, Equatable { var name = "none" }
        let older = DefaultsSuite.inMemory()
        older[DefaultKey("a", default: Old(name: "x"))] = Old(name: nil)
        older[DefaultKey<Int?>("b")] = nil
        let suite = try copy(of: older)
        let failures = Failures(of: suite)
        #expect(suite[DefaultKey("a", default: New())] == New())
        #expect(suite[DefaultKey("b", default: 7)] == 7)
        #expect(failures.all.isEmpty)
    }

    @Test func severalKeysBecomeOneStruct() throws {
        var migrator = DefaultsMigrator()
        let (x, y) = (DefaultKey<Int?>("x"), DefaultKey<Int?>("y"))
        migrator.register("2.0: a point") { contents in
            guard let left = try contents.read(x), let top = try contents.read(y) else { return }
            contents[DefaultKey("point", default: Point())] = Point(x: left, y: top)
            contents.remove(x)
            contents.remove(y)
        }
        var contents: SuiteContents = ["x": 1, "y": 2]
        try migrator.migrate(&contents)
        #expect(contents == ["point": ["x": 1, "y": 2]])
    }
}

/// A type that changes how it converts itself.
extension ShapeChangeTests {
    private struct ByCodable: DefaultConfig, Equatable {
        static let key = "Size"
        var width = 1
        var height = 2
    }
    private struct ByHand: DefaultConvertible, Equatable {
        static let key = "Size"
        var width = 1
        var height = 2
        init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
        init?(_ object: Any) {
            guard let entries = object as? [String: Any], let width = entries["width"] as? Int,
                let height = entries["height"] as? Int
            else { return nil }
            self.init(width: width, height: height)
        }
        func serialize() -> Any { ["width": width, "height": height] }
    }

    @Test func aHandWrittenConversionReadsWhatItAccepts() throws {
        let suite = DefaultsSuite.inMemory()
        try PersistentStore<ByCodable>(in: suite).save(ByCodable(width: 3, height: 4))
        let next = try copy(of: suite)
        let failures = Failures(of: next)
        #expect(try PersistentStore<ByHand>(in: next).load() == ByHand(width: 3, height: 4))
        try PersistentStore<ByHand>(in: next).save(ByHand(width: 5, height: 6))
        #expect(try PersistentStore<ByCodable>(in: copy(of: next)).load() == ByCodable(width: 5, height: 6))
        #expect(failures.all.isEmpty)
        #expect(try next.keys() == ["Size"])
    }

    @Test func aHandWrittenConversionKeepsWhatItDoesNotKnow() throws {
        let suite = DefaultsSuite.inMemory(["Size": ["width": 3, "height": 4, "depth": 5]])
        try PersistentStore<ByHand>(in: suite).save(ByHand(width: 5, height: 6))
        #expect(try suite.contents() == ["Size": ["width": 5, "height": 6, "depth": 5]])
        #expect(PersistentStore<ByHand>(in: suite).get() == ByHand(width: 5, height: 6))
    }

    @Test func jsonDataBecomesNativeAndBack() throws {
        let (json, native) = (
            DefaultKey("a", default: Point(), form: .jsonData), DefaultKey("a", default: Point(), form: .propertyList)
        )
        let first = DefaultsSuite.inMemory()
        first[json] = Point(x: 1, y: 2)
        let second = try copy(of: first)
        let failures = Failures(of: second)
        #expect(second[native] == Point(x: 1, y: 2))
        second[native].x = 3
        #expect(try second.contents() == ["a": ["x": 3, "y": 2]])
        let third = try copy(of: second)
        #expect(third[json] == Point(x: 3, y: 2))
        third[json].y = 4
        #expect(try third.contents()["a"] == .data(Data(#"{"x":3,"y":4}"#.utf8)))
        #expect(try copy(of: third)[native] == Point(x: 3, y: 4))
        #expect(failures.all.isEmpty)
        #expect(try third.keys() == ["a"])
    }

    /// An element has no default that could supply its missing property.
    @Test func anElementWithoutANewPropertyIsSetAside() throws {
        struct Old: Codable, Equatable { var x: Int }
        try expectStep([Old(x: 1)], default: [Point](), then: [Point(x: 2)], becomes: [Point(x: 1)]) { old in
            old.map { Point(x: $0.x) }
        }
    }

    @Test func anElementWithoutAnOldPropertyIsReadWithoutItAndCopied() throws {
        struct New: Codable, Equatable { var x: Int }
        let suite = DefaultsSuite.inMemory(["a": [["x": 1, "y": 2]]])
        let failures = Failures(of: suite)
        let key = DefaultKey("a", default: [New]())
        #expect(suite[key] == [New(x: 1)])
        #expect(failures.all.isEmpty)
        suite[key] = [New(x: 2)]
        #expect(try suite.contents()["a"] == [["x": 2]])
        #expect(try suite.contents()["a.unreadable"] == [["x": 1, "y": 2]])
        #expect(failures.kinds == [.unreadable])
    }

    @Test func anElementOfAConfigTypeTakesANewPropertyFromItsDefault() throws {
        struct Old: Codable, Equatable { var width: Int }
        try expectAutomatic(
            [Old(width: 3)], reads: [ByCodable(width: 3)], default: [], then: [ByCodable(width: 4, height: 5)],
            back: [Old(width: 4)])
    }

    @Test func anElementTakesANewOptionalPropertyAsNil() throws {
        struct Old: Codable, Equatable { var x: Int }
        struct New: Codable, Equatable {
            var x: Int
            var note: String?
        }
        try expectAutomatic(
            [Old(x: 1)], reads: [New(x: 1)], default: [], then: [New(x: 2, note: "a")], back: [Old(x: 2)])
    }
}
