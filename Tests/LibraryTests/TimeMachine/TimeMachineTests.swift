import TestSupport
import Testing

@testable import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

/// Tests which settings of each version of an app each of the others can read.
///
/// The fixtures were written once, by ``FixtureTests``. A table in *Changing your settings over the
/// years* lists the same outcomes.
struct TimeMachineTests {
    struct Pair: CustomTestStringConvertible, Sendable {
        let writer: any AppVersion.Type
        let reader: any AppVersion.Type
        /// The values that the reader reads from the writer's fixture.
        let read: [String: String]
        /// The differences from the fixture when the writer reads again, after the reader has
        /// changed `zoom`, `author`, `launches` and `quality`.
        let back: [String: String]
        /// The keys of the values that were set aside.
        var setAside: [String] = []
        var testDescription: String { "\(writer) read by \(reader)" }
    }

    /// The values that each version reads from its own fixture.
    private static let fixtures: [[String: String]] = [
        [
            "mode": "video", "zoom": "3", "beeps": "false", "effects": #"["sepia", "noir"]"#, "author": "Ada",
            "name": "ada", "launches": "7", "quality": "0.5", "resolution": "1920x1080", "grid": "true",
        ],
        [
            "mode": "portrait", "zoom": "2.5", "hdr": "true", "effects": #"["sepia 0.5"]"#, "author": "Grace",
            "license": "CC0", "name": "grace", "launches": "9", "quality": "0.6", "resolution": "3840x2160",
            "grid": "true",
        ],
        [
            "mode": "panorama", "zoom": "4.5", "hdr": "auto", "night": "true", "effects": #"["noir 0.25"]"#,
            "author": "Edsger", "license": "MIT", "year": "1968", "name": "edsger", "launches": "11",
            "quality": "0.9", "width": "800", "height": "600", "grid": "true",
        ],
    ]

    /// The fixtures of the later versions have no record of the renames, so the renames find the
    /// values that version 1 stored under the old names.
    private static let setAsideByVersion1 = [
        "Camera.unreadable", "app/AppSettings/launches.unreadable", "profile.unreadable", "q.unreadable",
    ]

    private static let pairs = [
        Pair(
            writer: V1.self, reader: V1.self, read: fixtures[0],
            back: ["zoom": "5", "author": "one", "launches": "8", "quality": "0.1"]),
        Pair(
            writer: V1.self, reader: V2.self,
            read: [
                "mode": "video", "zoom": "3.0", "hdr": "false", "effects": #"["sepia 1.0", "noir 1.0"]"#,
                "author": "Ada", "license": "none", "name": "ada", "launches": "7", "quality": "0.5",
                "resolution": "1920x1080", "grid": "true",
            ],
            // 5.5 is not an `Int`, and the other values have moved to their new names.
            back: ["zoom": "1", "author": "two", "name": "", "launches": "0", "quality": "0.8"]),
        Pair(
            writer: V1.self, reader: V3.self,
            read: [
                "mode": "video", "zoom": "3.0", "hdr": "off", "night": "false",
                "effects": #"["sepia 1.0", "noir 1.0"]"#, "author": "Ada", "license": "none", "year": "nil",
                "name": "ada", "launches": "7", "quality": "0.5", "width": "1920", "height": "1080", "grid": "true",
            ],
            back: [
                "zoom": "1", "author": "three", "name": "", "launches": "0", "quality": "0.8", "resolution": "1280x720",
            ]),
        Pair(
            writer: V2.self, reader: V1.self,
            read: [
                "mode": "photo", "zoom": "1", "beeps": "true", "effects": #"["sepia"]"#, "author": "Grace", "name": "",
                "launches": "0", "quality": "0.8", "resolution": "3840x2160", "grid": "true",
            ],
            back: ["zoom": "5.0", "author": "one", "license": "none"], setAside: setAsideByVersion1),
        Pair(
            writer: V2.self, reader: V2.self, read: fixtures[1],
            back: ["zoom": "5.5", "author": "two", "launches": "10", "quality": "0.2"]),
        Pair(
            writer: V2.self, reader: V3.self,
            read: [
                "mode": "portrait", "zoom": "2.5", "hdr": "on", "night": "false", "effects": #"["sepia 0.5"]"#,
                "author": "Grace", "license": "CC0", "year": "nil", "name": "grace", "launches": "9", "quality": "0.6",
                "width": "3840", "height": "2160", "grid": "true",
            ],
            back: [
                "zoom": "6.5", "hdr": "false", "author": "three", "launches": "10", "quality": "0.3",
                "resolution": "1280x720",
            ]),
        Pair(
            writer: V3.self, reader: V1.self,
            read: [
                "mode": "photo", "zoom": "1", "beeps": "true", "effects": #"["noir"]"#, "author": "Edsger", "name": "",
                "launches": "0", "quality": "0.8", "resolution": "1280x720", "grid": "true",
            ],
            back: ["zoom": "5.0", "author": "one", "license": "none", "year": "nil"], setAside: setAsideByVersion1),
        Pair(
            writer: V3.self, reader: V2.self,
            read: [
                "mode": "photo", "zoom": "4.5", "hdr": "false", "effects": #"["noir 0.25"]"#, "author": "Edsger",
                "license": "MIT", "name": "edsger", "launches": "11", "quality": "0.9", "resolution": "1280x720",
                "grid": "true",
            ],
            back: ["zoom": "5.5", "author": "two", "launches": "12", "quality": "0.2", "year": "nil"],
            setAside: ["profile.unreadable"]),
        Pair(
            writer: V3.self, reader: V3.self, read: fixtures[2],
            back: ["zoom": "6.5", "author": "three", "launches": "12", "quality": "0.3"]),
    ]

    @Test(arguments: pairs, Backend.allCases)
    func theOtherVersionReadsAndWritesTheSettings(pair: Pair, backend: Backend) throws {
        let place = try Place(backend, fixture: pair.writer.number)
        defer { place.clear() }
        try place.run { suite in
            try pair.reader.launch(suite)
            expectEqual(pair.reader.read(suite), pair.read)
            #expect(try setAsideKeys(suite) == [], "reading copies nothing")
            try pair.reader.use(suite)
        }
        try place.run { suite in
            try pair.writer.launch(suite)
            let expected = Self.fixtures[pair.writer.number - 1].merging(pair.back) { _, back in back }
            expectEqual(pair.writer.read(suite), expected)
            #expect(try setAsideKeys(suite) == pair.setAside)
        }
        // Where both use the same name, the writer's own changes are visible to both again.
        try place.run { try pair.writer.use($0) }
        try place.run { suite in
            let read = pair.reader.read(suite)
            #expect(read["author"] == ["one", "two", "three"][pair.writer.number - 1])
            #expect(read["grid"] == "true")
        }
    }

    @Test(arguments: Backend.allCases)
    func anOlderVersionCopiesAProfileInJSONOnce(backend: Backend) throws {
        let place = try Place(backend, fixture: 3)
        defer { place.clear() }
        let old = try #require(try Fixtures.contents(3)["profile"])
        for author in ["first", "second"] {
            try place.run { suite in
                let failures = Failures(of: suite)
                try suite.update(V1.profile) { $0.author = author }
                #expect(suite[V1.profile].author == author)
                #expect(failures.all.map(\.key) == (author == "first" ? ["profile"] : []))
                #expect(suite[DefaultKey<PropertyList?>("profile.unreadable")] == old)
                #expect(suite[DefaultKey<PropertyList?>("profile.unreadable-2")] == nil)
            }
        }
    }

    @Test func everyPairOfVersionsIsTested() {
        #expect(Set(Self.pairs.map(\.testDescription)).count == 9)
    }

    @Test func aVersionKnowsThatANewerOneHasMigrated() throws {
        let older = DefaultsMigrator()
        for version in 1...3 {
            let contents = try Fixtures.contents(version)
            #expect(older.isSuperseded(by: contents) == (version == 3))
            #expect(!V3.migrator.isSuperseded(by: contents))
        }
    }

    private func setAsideKeys(_ suite: DefaultsSuite) throws -> [String] {
        try suite.keys().filter { $0.contains(".unreadable") }
    }

    private func expectEqual(_ one: [String: String], _ other: [String: String]) {
        for name in Set(one.keys).union(other.keys).sorted() { #expect(one[name] == other[name], "\(name)") }
    }
}

/// The files of stored settings, one of each form for each version.
enum Fixtures {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    static func file(_ version: Int) -> URL { folder.appending(path: "version-\(version).defaults") }
    static func propertyList(_ version: Int) -> URL { folder.appending(path: "version-\(version).plist") }

    /// The objects of the property list.
    static func objects(_ version: Int) throws -> [String: Any] {
        let data = try Data(contentsOf: propertyList(version))
        return try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }

    static func contents(_ version: Int) throws -> SuiteContents {
        SuiteContents(stored: try objects(version).map { ($0.key, try PropertyList($0.value)) })
    }
}

/// Storage in which one process after another finds the settings: a copy of a fixture.
private final class Place {
    private let backend: Backend
    private var contents: SuiteContents = [:]
    private var file: URL?
    private let name = makeSuiteName()

    /// In memory and in `UserDefaults`, it is a copy of the property list.
    init(_ backend: Backend, fixture version: Int) throws {
        self.backend = backend
        switch backend {
        case .memory: contents = try Fixtures.contents(version)
        case .file:
            let file = try makeFile()
            try FileManager.default.copyItem(at: Fixtures.file(version), to: file)
            self.file = file
        #if canImport(Darwin) || canImport(AppleFoundation)
            case .userDefaults:
                let defaults = try #require(UserDefaults(suiteName: name))
                for (key, object) in try Fixtures.objects(version) { defaults.set(object, forKey: key) }
        #endif
        }
    }

    /// Runs `body` with a suite that knows nothing of the ones before, as in a new process.
    func run(_ body: (DefaultsSuite) throws -> Void) throws {
        let suite = open()
        suite.onFailure = { _ in }
        try body(suite)
        if backend == .memory { contents = try suite.contents() }
    }

    private func open() -> DefaultsSuite {
        switch backend {
        case .memory:
            let suite = DefaultsSuite.inMemory()
            #expect(throws: Never.self) { try suite.replaceContents(with: contents) }
            return suite
        case .file: return DefaultsSuite(backend: FileBackend(path: file?.path ?? "", durability: .process))
        #if canImport(Darwin) || canImport(AppleFoundation)
            case .userDefaults: return DefaultsSuite(userDefaultsNamed: name)
        #endif
        }
    }

    func clear() { backend.clear(open()) }
}

/// Writes the fixtures.
///
/// Set `TYPED_DEFAULTS_WRITE_FIXTURES` and run `swift test --filter FixtureTests`. A fixture that
/// exists is never written again: it holds what that version stored, regardless of what the library
/// does today.
struct FixtureTests {
    private static let isOn = ProcessInfo.processInfo.environment["TYPED_DEFAULTS_WRITE_FIXTURES"] != nil

    @Test(.enabled(if: isOn), arguments: [V1.self, V2.self, V3.self] as [any AppVersion.Type])
    func fixturesThatAreMissingAreWritten(version: any AppVersion.Type) throws {
        let (file, list) = (Fixtures.file(version.number), Fixtures.propertyList(version.number))
        for url in [file, list] where FileManager.default.fileExists(atPath: url.path) {
            Issue.record("\(url.lastPathComponent) exists and must stay as it is")
            return
        }
        let suite = try DefaultsSuite(file: file)
        try version.launch(suite)
        try version.fill(suite)
        try suite.synchronize()
        var objects: [String: Any] = [:]
        for (key, value) in try suite.contents() { objects[key] = value.object }
        try PropertyListSerialization.data(fromPropertyList: objects, format: .xml, options: 0).write(to: list)
    }
}
