import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

private enum Mode: String, Codable { case photo, video }
private struct Lens: Codable, Equatable {
    var zoom = 1.0
    var name = "main"
}
private struct Flash: DefaultConfig, Equatable {
    static let key = "Flash"
    var power = 5
    var isOn = true
}
private struct Config: DefaultConfig, Equatable {
    static let key = "Config"
    var on = true
    var mode = Mode.photo
    var recent: [Mode] = [.photo]
    var lens = Lens()
    var second: Lens?
    var flash: Flash?
    var byName: [String: Mode] = [:]
    var lenses: [Lens] = []
    var flashes: [Flash] = []
    var flashByName: [String: Flash] = [:]
    var modes: Set<Mode> = []
    var pairs: [Mode: Int] = [:]
    var taken = Date(timeIntervalSinceReferenceDate: 5)
    var thumbnail = Data([1, 2])
}

/// Values of which parts are at fault.
struct TolerantDecodingTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let stored: PropertyList
        let paths: [String]
        let expected: @Sendable (inout Config) -> Void
        var testDescription: String { paths.joined(separator: " ") }
    }

    private static let cases = [
        Case(stored: ["on": false], paths: []) { $0.on = false },
        Case(stored: ["on": false, "mode": "hologram"], paths: ["mode"]) { $0.on = false },
        Case(stored: ["on": "maybe", "mode": "video"], paths: ["on"]) { $0.mode = .video },
        Case(stored: ["on": [1], "mode": 5, "lens": 3], paths: ["lens", "mode", "on"]) { _ in },
        Case(stored: ["recent": ["video", "hologram", "photo", 7]], paths: ["recent.1", "recent.2"]) {
            $0.recent = [.video, .photo]
        },
        Case(stored: ["lens": ["zoom": 2.0]], paths: []) { $0.lens.zoom = 2 },
        Case(stored: ["lens": ["zoom": "far", "name": "tele"]], paths: ["lens.zoom"]) { $0.lens.name = "tele" },
        Case(stored: ["second": ["zoom": "x", "name": "y"]], paths: ["second"]) { _ in },
        Case(stored: ["second": ["zoom": 3.0, "name": "y"]], paths: []) { $0.second = Lens(zoom: 3, name: "y") },
        Case(stored: ["second": 5], paths: ["second"]) { _ in },
        Case(stored: ["flash": ["power": "much"]], paths: ["flash.power"]) { $0.flash = Flash() },
        Case(stored: ["flash": ["isOn": false]], paths: []) { $0.flash = Flash(power: 5, isOn: false) },
        Case(stored: ["byName": ["a": "video", "b": "hologram"]], paths: ["byName.*"]) { $0.byName = ["a": .video] },
        Case(
            stored: ["flashByName": ["a": ["power": 1], "b": ["power": "x", "isOn": false]]],
            paths: ["flashByName.*.power"]
        ) { $0.flashByName = ["a": Flash(power: 1), "b": Flash(power: 5, isOn: false)] },
        Case(
            stored: ["lenses": [["zoom": 2.0, "name": "tele"], ["zoom": "3"], ["zoom": 4.0, "name": "x"]]],
            paths: ["lenses.1"]
        ) { $0.lenses = [Lens(zoom: 2, name: "tele"), Lens(zoom: 4, name: "x")] },
        Case(
            stored: ["flashes": [["power": 1], 5, ["power": "x", "isOn": false]]],
            paths: ["flashes.1", "flashes.2.power"]
        ) {
            $0.flashes = [Flash(power: 1), Flash(), Flash(power: 5, isOn: false)]
        },
        Case(stored: ["modes": ["video", "hologram"]], paths: ["modes.1"]) { $0.modes = [.video] },
        // Keys and values in turn, so no element may be left out.
        Case(stored: ["pairs": ["photo", 1, "hologram", 2]], paths: ["pairs"]) { _ in },
        Case(stored: ["taken": "yesterday", "thumbnail": "none?"], paths: ["taken", "thumbnail"]) { _ in },
    ]

    @Test(arguments: cases) private func aPartAtFaultIsReadAsTheDefault(test: Case) throws {
        let suite = DefaultsSuite.inMemory(["Config": test.stored])
        let failures = Failures(of: suite)
        var expected = Config()
        test.expected(&expected)
        let store = PersistentStore<Config>(in: suite)
        #expect(store.value == expected)
        #expect(try store.load() == expected)
        #expect(Set(failures.all.map { $0.path.joined(separator: ".") }) == Set(test.paths))
        #expect(failures.all.allSatisfy { $0.kind == .unreadable && $0.key == "Config" })
        // The same through a key and through contents.
        #expect(UserDefault(DefaultKey(Config.self), in: suite).value == expected)
        #expect(try suite.contents()[Config.self] == expected)
        #expect(try suite.contents()["Config"] == test.stored, "reading stores nothing")
    }

    /// As older versions of a program stored it, with Foundation's coders.
    @Test(arguments: cases, [true, false])
    private func thePartsOfDataAreReadAsWell(test: Case, isJSON: Bool) throws {
        guard isJSON || test.stored.object is [String: Any] else { return }
        let data =
            try isJSON
            ? JSONSerialization.data(withJSONObject: test.stored.object)
            : PropertyListSerialization.data(fromPropertyList: test.stored.object, format: .binary, options: 0)
        let suite = DefaultsSuite.inMemory(["Config": .data(data)])
        suite.onFailure = { _ in }
        var expected = Config()
        test.expected(&expected)
        #expect(PersistentStore<Config>(in: suite).value == expected)
        #expect(suite[DefaultKey("Config", default: Config(), form: .jsonData)] == expected)
    }

    @Test func datesAndBytesOfJSONAreReadBesideAFault() throws {
        var config = Config()
        config.taken = Date(timeIntervalSinceReferenceDate: 77.25)
        config.thumbnail = Data([7, 8, 9])
        config.lens = Lens(zoom: 0.1, name: "$null")
        config.flash = Flash(power: 1)
        let json = try String(decoding: JSONEncoder().encode(config), as: UTF8.self)
            .replacingOccurrences(of: "\"photo\"", with: "\"hologram\"")
        let suite = DefaultsSuite.inMemory(["Config": .data(Data(json.utf8))])
        suite.onFailure = { _ in }
        config.recent = []
        #expect(PersistentStore<Config>(in: suite).value == config)
    }

    @Test func eachFaultIsReportedOnce() throws {
        let suite = DefaultsSuite.inMemory(["Config": ["mode": "hologram", "on": 3, "future": 1]])
        let failures = Failures(of: suite)
        let store = PersistentStore<Config>(in: suite)
        for _ in 0..<3 { #expect(store.value == Config()) }
        #expect(failures.all.count == 2)
        try store.update { $0.lens.zoom = 3 }
        for _ in 0..<3 { _ = store.value }
        #expect(failures.all.count == 2)
    }

    @Test func aDescriptionOfAFaultHoldsNoValue() throws {
        let suite = DefaultsSuite.inMemory(["Config": ["mode": "secret", "byName": ["private": "hidden"]]])
        let failures = Failures(of: suite)
        _ = PersistentStore<Config>(in: suite).value
        let text = failures.all.map { "\($0)" }.joined()
        #expect(text.contains("mode") && !text.contains("secret"))
        #expect(!text.contains("private") && !text.contains("hidden"))
    }

    @Test func keysWithADefaultAreTolerantToo() throws {
        let suite = DefaultsSuite.inMemory([
            "recent": ["video", "hologram"], "lens": ["zoom": "x", "name": "y"], "mode": "hologram",
            "byName": ["a": 1, "b": "photo"],
        ])
        suite.onFailure = { _ in }
        #expect(suite[DefaultKey<[Mode]>("recent", default: [])] == [.video])
        #expect(suite[DefaultKey("lens", default: Lens(zoom: 7))] == Lens(zoom: 7, name: "y"))
        #expect(suite[DefaultKey("mode", default: Mode.photo)] == .photo)
        #expect(suite[DefaultKey<[String: Mode]>("byName", default: [:])] == ["b": .photo])
    }

    @Test func typesWithoutADefaultStayUnreadable() throws {
        struct Plain: DefaultConvertible, Codable {
            static let key = "Config"
            var mode = Mode.photo
        }
        let suite = DefaultsSuite.inMemory(["Config": ["mode": "hologram"]])
        suite.onFailure = { _ in }
        #expect(PersistentStore<Plain>(in: suite).get() == nil)
        #expect(fails(with: .unreadable) { _ = try PersistentStore<Plain>(in: suite).load() })
    }

    @Test(arguments: ["text", 5, ["a", "b"]] as [PropertyList])
    func aWholeValueOfAnotherKindStaysUnreadable(stored: PropertyList) throws {
        let suite = DefaultsSuite.inMemory(["Config": stored])
        let failures = Failures(of: suite)
        let store = PersistentStore<Config>(in: suite)
        #expect(store.get() == nil)
        try store.update { $0.on = false }
        #expect(try suite.contents()["Config.unreadable"] == stored)
        #expect(failures.kinds == [.unreadable, .unreadable])
    }

    @Test func aTypeThatThrowsAnErrorOfItsOwnIsMended() throws {
        struct Even: Codable, Equatable {
            struct Odd: Error {}
            var number = 2
            init() {}
            init(from decoder: any Decoder) throws {
                number = try decoder.singleValueContainer().decode(Int.self)
                guard number.isMultiple(of: 2) else { throw Odd() }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(number)
            }
        }
        struct Holder: DefaultConfig, Equatable {
            static let key = "Holder"
            var even = Even()
            var name = "a"
        }
        let suite = DefaultsSuite.inMemory(["Holder": ["even": 3, "name": "b"]])
        suite.onFailure = { _ in }
        #expect(PersistentStore<Holder>(in: suite).value == Holder(even: Even(), name: "b"))
    }
}

/// What a newer version of the program stored, and this one does not know, outlives its writes.
struct ForeignEntriesTests {
    private let newer: PropertyList = [
        "on": false, "mode": "hologram", "hdr": true, "lens": ["zoom": 2.0, "name": "x", "coated": 1],
        "flash": ["power": 1, "color": "red"], "lenses": [["zoom": 1.0, "name": "a", "serial": 5]],
    ]

    private func stored(_ suite: DefaultsSuite) throws -> [String: PropertyList] {
        guard case .dictionary(let entries)? = try suite.contents()["Config"] else { return [:] }
        return entries
    }

    @Test(arguments: Backend.allCases) func aWriteKeepsWhatItDoesNotKnow(backend: Backend) throws {
        try backend.withSuite { suite in
            suite.onFailure = { _ in }
            try suite.update { $0["Config"] = newer }
            let store = PersistentStore<Config>(in: suite)
            for zoom in [3.0, 4.0] {
                try store.update { $0.lens.zoom = zoom }
                let entries = try stored(suite)
                #expect(entries["hdr"] == true)
                #expect(entries["mode"] == "hologram", "the value was not changed by this version")
                #expect(entries["lens"] == ["zoom": .double(zoom), "name": "x", "coated": 1])
                #expect(entries["flash"] == ["power": 1, "isOn": true, "color": "red"])
                #expect(entries["lenses"] == [["zoom": 1.0, "name": "a"]], "not inside arrays")
                #expect(store.value.lens.zoom == zoom)
                #expect(store.value.mode == .photo)
            }
            #expect(try suite.keys() == ["Config"], "nothing had to be set aside")
        }
    }

    @Test func aSetOfAWholeValueKeepsThemToo() throws {
        let suite = DefaultsSuite.inMemory(["Config": newer])
        suite.onFailure = { _ in }
        PersistentStore<Config>(in: suite).set(Config())
        #expect(try stored(suite)["hdr"] == true)
        #expect(try stored(suite)["mode"] == "hologram")
        try suite.update { $0[Config.self].on = false }
        #expect(try stored(suite)["hdr"] == true)
        #expect(try stored(suite)["on"] == false)
    }

    @Test func aWriteOfTheSameValueIsNoChange() throws {
        let suite = DefaultsSuite.inMemory(["Config": newer])
        suite.onFailure = { _ in }
        let store = PersistentStore<Config>(in: suite)
        store.set(store.value)
        let changes = Guarded(0)
        let token = suite.observeAll { _ in changes.withLock { $0 += 1 } }
        defer { token.cancel() }
        store.set(store.value)
        try store.update { _ in }
        #expect(changes.withLock { $0 } == 0)
    }

    @Test func anEntryThatThisVersionChangesIsSetAside() throws {
        let suite = DefaultsSuite.inMemory(["Config": newer])
        let failures = Failures(of: suite)
        let store = PersistentStore<Config>(in: suite)
        try store.update { $0.lens.zoom = 3 }
        let before = try suite.contents()["Config"]
        try store.update { $0.mode = .video }
        #expect(try stored(suite)["mode"] == "video")
        #expect(try stored(suite)["hdr"] == true)
        #expect(try suite.contents()["Config.unreadable"] == before)
        #expect(failures.all.last?.reason.contains("kept under “Config.unreadable”") == true)
    }

    @Test func elementsThatWereLeftOutAreSetAside() throws {
        let stored: PropertyList = ["recent": ["video", "hologram"]]
        let suite = DefaultsSuite.inMemory(["Config": stored])
        suite.onFailure = { _ in }
        try PersistentStore<Config>(in: suite).update { $0.on = false }
        #expect(try suite.contents()["Config.unreadable"] == stored)
        #expect(try self.stored(suite)["recent"] == ["video"])
    }

    @Test func keysOfADictionaryAreNotKept() throws {
        let suite = DefaultsSuite.inMemory(["names": ["a": 1, "b": 2]])
        let names = DefaultKey<[String: Int]>("names", default: [:])
        suite[names] = ["a": 1]
        #expect(suite[names] == ["a": 1])
    }

    @Test func aMigrationDropsWhatItDoesNotWrite() throws {
        let suite = DefaultsSuite.inMemory(["Config": newer])
        suite.onFailure = { _ in }
        var migrator = DefaultsMigrator()
        migrator.register("drop") { $0[Config.self] = Config() }
        try suite.migrate(migrator)
        #expect(try stored(suite)["hdr"] == nil)
        #expect(try stored(suite)["mode"] == "photo")
    }

    @Test func entriesOfJSONAreKeptInJSON() throws {
        let json =
            #"{"hdr": true, "lens": {"coated": 1.5, "name": "x", "zoom": 2}, "mode": "hologram", "big": 0.12345678901234567890123}"#
        let suite = DefaultsSuite.inMemory(["Config": .data(Data(json.utf8))])
        suite.onFailure = { _ in }
        let key = DefaultKey("Config", default: Config(), form: .jsonData)
        for zoom in [3.0, 4.0] {
            try suite.update(key) { $0.lens.zoom = zoom }
            guard case .data(let data)? = try suite.contents()["Config"] else { return #expect(Bool(false)) }
            let object = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(object["hdr"] as? Bool == true)
            #expect(object["mode"] as? String == "hologram")
            #expect((object["lens"] as? [String: Any])?["coated"] as? Double == 1.5)
            #expect((object["lens"] as? [String: Any])?["zoom"] as? Double == zoom)
            #expect(String(decoding: data, as: UTF8.self).contains("0.12345678901234567890123"))
            #expect(suite[key].lens.zoom == zoom)
        }
    }

    @Test func entriesOfJSONAreKeptInTheNativeForm() throws {
        let suite = DefaultsSuite.inMemory(["Config": .data(Data(#"{"hdr": true, "mode": "hologram"}"#.utf8))])
        suite.onFailure = { _ in }
        try PersistentStore<Config>(in: suite).update { $0.on = false }
        #expect(try stored(suite)["hdr"] == true)
        #expect(try stored(suite)["mode"] == "hologram")
        #expect(try stored(suite)["on"] == false)
    }

    @Test func anotherProcessMayAddEntriesLater() throws {
        let file = try makeFile()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let suite = try DefaultsSuite(file: file)
        let store = PersistentStore<Config>(in: suite)
        try store.update { $0.on = false }
        let other = DefaultsSuite(backend: FileBackend(path: file.path))
        try other.update { contents in
            guard case .dictionary(var entries)? = contents["Config"] else { return }
            entries["later"] = 7
            contents["Config"] = .dictionary(entries)
        }
        try store.update { $0.on = true }
        #expect(try stored(suite)["later"] == 7)
    }
}
