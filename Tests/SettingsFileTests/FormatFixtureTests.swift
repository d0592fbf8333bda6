import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

/// Reads and writes files of format 2 that an earlier build has written. Format 2 is frozen: every
/// later version must read them.
///
/// | fixture | what it holds |
/// |---|---|
/// | `whole` | every kind of value; replaced twice, then commits of one and of many edits |
/// | `uncommitted` | a whole record behind the committed end, as a killed writer leaves it |
/// | `torn` | a record up to the boundary of a block, as a killed writer leaves it |
/// | `damaged` | one changed byte in the third of five records |
/// | `copy` | what that build set aside of `damaged` |
///
/// `format-1-whole` is a file of the format before it, which is refused.
///
/// They are never written again. ``TimeMachineTests`` tests which settings of one version of an app
/// another one can read.
struct FormatFixtureTests: SettingsFileTests {
    private struct Camera: DefaultConfig, Equatable {
        static let key = "Camera"
        struct Lens: Codable, Equatable {
            var name = "wide"
            var apertures = [1.8, 2.2]
        }
        enum Mode: String, Codable { case photo, video }
        var mode = Mode.photo
        var lens = Lens()
        var lenses: [String: Lens] = [:]
        var note: String?
        var taken = Date(timeIntervalSinceReferenceDate: 0)
    }

    private static let camera = Camera(
        mode: .video, lens: Camera.Lens(name: "tele", apertures: [2.8]), lenses: ["é": Camera.Lens()], note: "",
        taken: Date(timeIntervalSinceReferenceDate: -1.25))
    private static let history = DefaultKey("history", default: [Camera](), form: .jsonData)
    private static let longKey = String(repeating: "k", count: 4_095) + "!"

    /// Values that are compared bit for bit.
    private static let values: [String: PropertyList] = [
        "bool/false": false, "bool/true": true,
        "integer/zero": 0, "integer/negative": -1, "integer/smallest": .integer(.min),
        "integer/large": .integer(.max), "integer/largest": .unsigned(.max),
        "double/tenth": 0.1, "double/negative zero": -0.0, "double/smallest": .double(.leastNonzeroMagnitude),
        "double/infinity": .double(-.infinity), "double/nan": .double(Double(nan: 42, signaling: false)),
        "date/reference": .date(Date(timeIntervalSinceReferenceDate: 0)),
        "date/before": .date(Date(timeIntervalSinceReferenceDate: -63_113_904_000.125)),
        "string/empty": "", "string/unicode": "e\u{301}é\u{0}👩‍👩‍👧", "string/127": .string(filler(127)),
        "string/128": .string(filler(128)), "string/large": .string(filler(9_000)),
        "data/empty": .data(Data()), "data/zeros": .data(Data(count: 40)),
        "data/large": .data(Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* $0) })),
        "array/empty": [], "array/mixed": [true, 1, 1.0, "1", .data(Data([1])), ["a": []]],
        "dictionary/empty": [:], "dictionary": ["": 0, "é": ["deeper": [nested(60)]]],
        "": "the empty key", "ключ 🔑": "a key of other letters", longKey: "the longest key",
        "user-42/quality": 0.25, "former name": 7, "set twice": 2,
    ]

    private static func filler(_ count: Int) -> String {
        String(decoding: (0..<count).map { 97 + UInt8($0 % 26) }, as: UTF8.self)
    }

    private static func nested(_ depth: Int) -> PropertyList { depth == 0 ? "bottom" : [nested(depth - 1)] }

    /// The five records of `damaged`.
    private static let records = (1...5).map { "record \($0)" }

    private enum Fixture: String { case whole, uncommitted, torn, damaged, copy }

    private static func url(_ fixture: Fixture) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/format-2-\(fixture.rawValue).defaults")
    }

    /// Calls `body` with a copy of a fixture, whose folder holds nothing else.
    private func withCopy(of fixture: Fixture, _ body: (URL) throws -> Void) throws {
        try withFile { file in
            try Data(contentsOf: Self.url(fixture)).write(to: file)
            #expect(chmod(file.path, 0o600) == 0)
            try body(file)
        }
    }

    private func expectWhole(_ suite: DefaultsSuite, changed: [String: PropertyList] = [:], removed: [String] = [])
        throws
    {
        var values = Self.values
        for (key, value) in changed { values[key] = value }
        for key in removed { values[key] = nil }
        let contents = try suite.contents()
        for key in Set(values.keys).union(contents.map(\.key)) {
            switch key {
            case "Camera", "history", "mode.unreadable-info": break
            case "mode": #expect(contents[key] == 5)
            case "mode.unreadable": #expect(contents[key] == "portrait")
            default: #expect(contents[key] == values[key], "\(key.prefix(40))")
            }
        }
        #expect(suite[DefaultKey("Camera", default: Camera())] == Self.camera)
        #expect(suite[Self.history] == [Self.camera, Camera()])
        #expect(suite.scoped("user-42/")[DefaultKey<Double>("quality", default: 0)] == 0.25)
        #expect(suite[DefaultKey("former name", default: 0)] == 7)
    }

    @Test func everyValueOfFormat2ReadsBack() throws {
        try withCopy(of: .whole) { file in
            let inspection = try FileInspection(file: file)
            #expect(inspection.problems == [])
            #expect((inspection.version, inspection.epoch) == (2, 2))
            let suite = open(file)
            let failures = Failures(of: suite)
            try expectWhole(suite)
            #expect(failures.all.isEmpty)
            #expect(try Data(contentsOf: file) == Data(contentsOf: Self.url(.whole)), "reading changes nothing")
        }
    }

    @Test func aFileOfFormat2IsWrittenAndReplaced() throws {
        try withCopy(of: .whole) { file in
            let changed: [String: PropertyList] = ["set twice": 3, "added": ["new"]]
            // A flush in the background might hold the lock when the file is due for compaction.
            let suite = DefaultsSuite(
                backend: FileBackend(path: file.path, timeout: .seconds(10), flushDelay: .seconds(3_600)))
            try suite.update { contents in for (key, value) in changed { contents[key] = value } }
            try expectWhole(open(file), changed: changed)
            for count in 20_000..<20_006 { suite[DefaultKey("filler", default: "")] = Self.filler(count) }
            suite.remove(["filler", "bool/true"])
            try suite.synchronize()
            let inspection = try FileInspection(file: file)
            #expect((inspection.version, inspection.epoch) == (2, 3))
            try expectWhole(open(file), changed: changed, removed: ["bool/true"])
            #expect(try names(beside: file) == [file.lastPathComponent])
        }
    }

    @Test(arguments: [false, true])
    func anUncommittedRecordOfFormat2IsNotRead(isImmediate: Bool) throws {
        try withCopy(of: .uncommitted) { file in
            #expect(try FileInspection(file: file).problems == [])
            let suite = open(file, isImmediate ? .immediate : .process)
            let failures = Failures(of: suite)
            #expect(suite[number] == 0)
            suite[number] = 2
            try suite.synchronize()
            #expect(failures.all.isEmpty)
            #expect(open(file)[number] == 2)
            #expect(try FileInspection(file: file).problems == [])
            #expect(try names(beside: file) == [file.lastPathComponent])
        }
    }

    @Test func aTornRecordOfFormat2IsSetAside() throws {
        try withCopy(of: .torn) { file throws in
            let suite = open(file)
            let failures = Failures(of: suite)
            #expect(suite[number] == 1)
            #expect(suite[DefaultKey("torn", default: "")] == "")
            suite[number] = 2
            #expect(failures.kinds == [.unreadable, .unreadable])
            #expect(open(file)[number] == 2)
            #expect(try FileInspection(file: file).problems == [])
            // The record was never read, but its bytes are kept.
            #expect(try names(beside: file).count == 2)
        }
    }

    @Test func damageOfFormat2IsSetAsideByteForByte() throws {
        try withCopy(of: .damaged) { file in
            #expect(try recovered(from: file) == Array(Self.records[3...]))
            let suite = open(file)
            let failures = Failures(of: suite)
            #expect(try suite.keys().sorted() == Array(Self.records[..<2]))
            suite[number] = 1
            #expect(failures.kinds == [.unreadable, .unreadable])
            let copies = try names(beside: file).filter { $0.contains(".damaged-") }
            let copy = file.deletingLastPathComponent().appending(path: try #require(copies.first))
            #expect(copies.count == 1)
            #expect(try Data(contentsOf: copy) == Data(contentsOf: Self.url(.copy)))
        }
        #expect(try recovered(from: Self.url(.copy)) == Array(Self.records[3...]))
    }

    /// A program of that format refuses files of this one in the same way.
    @Test func aFileOfFormat1IsRefusedAndUntouched() throws {
        let old = Self.url(.whole).deletingLastPathComponent().appending(path: "format-1-whole.defaults")
        try withFile { file in
            let bytes = try Data(contentsOf: old)
            try bytes.write(to: file)
            #expect(chmod(file.path, 0o600) == 0)
            let suite = open(file)
            let failures = Failures(of: suite)
            #expect(suite[number] == 0)
            let error = #expect(throws: DefaultsError.self) { try UserDefault(number, in: suite).store.save(1) }
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains("it was written by an older version of this library") == true)
            #expect(throws: DefaultsError.self) { try suite.synchronize() }
            #expect(failures.kinds.contains(.unavailable))
            let inspection = try FileInspection(file: file)
            #expect(inspection.problems == ["cannot be read: it was written by an older version of this library"])
            #expect(inspection.salvageableValues.isEmpty && !inspection.isComplete)
            #expect(try Data(contentsOf: file) == bytes)
            #expect(try names(beside: file) == [file.lastPathComponent])
        }
    }

    /// Returns the keys of the whole records after the damage.
    private func recovered(from file: URL) throws -> [String] {
        let salvageable = try FileInspection(file: file).salvageableValues
        for (key, value) in salvageable { #expect(value == .string(key)) }
        return salvageable.map(\.key)
    }
}
