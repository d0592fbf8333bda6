import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

private typealias Layer = DefaultsSuite.Layer

private struct Lens: DefaultConfig, Equatable {
    static let key = "Lens"
    static let rules: [DefaultRule<Lens>] = [.on(\.zoom, .in(1...10))]
    var zoom = 1.0
    var name = ""
    var modes: [String] = []
}

private let a = DefaultKey("a", default: 0)
private let b = DefaultKey("b", default: 0)
private let c = DefaultKey("c", default: 0)
private let missing = DefaultKey("missing", default: 0)

struct OpenLayersTests {
    @Test(arguments: Backend.allCases)
    func theFirstLayerWithAValueCountsAndOneBehindIsADefault(backend: Backend) throws {
        try backend.withSuite { suite in
            try suite.update { $0["b"] = 2 }
            suite.layers = [
                .arguments(["-a", "1"]), .environment(prefix: "APP_", ["APP_A": "7", "APP_N_X": "8"]), .stored,
                .values(["b": 9, "c": 9, "Lens": ["name": "x"]], name: "customer"), .values(["c": 3, "missing": 4]),
            ]
            let nested = DefaultKey("n/x", default: 0)
            #expect([a, b, c, missing, nested].map { suite[$0] } == [1, 2, 9, 4, 8])
            #expect(
                [a, b, c, missing, nested, DefaultKey("none", default: 0)].map { UserDefault($0, in: suite).source }
                    == [
                        .layer("arguments"), .stored, .layer("customer"), .layer("values"), .layer("environment"),
                        .defaultValue,
                    ])
            #expect([a, b, c].map { UserDefault($0, in: suite).isManaged } == [true, false, false])
            #expect(try suite.read(a, c) == (1, 9))
            #expect(try suite.read(c) == 9)
            #expect(PersistentStore<Lens>(in: suite).value == Lens(name: "x"))
            #expect(try suite.contents() == ["b": 2])

            let setting = UserDefault(c, in: suite)
            #expect(!setting.isSet)
            setting.value = 4
            #expect(setting.value == 4)
            #expect(setting.source == .stored)
            setting.reset()
            #expect(setting.value == 9)
            // A read from the cache.
            #expect(setting.value == 9)
        }
    }

    @Test(arguments: Backend.allCases)
    func anUpdateOfTheSuiteBeginsWithTheDefaultOfALayer(backend: Backend) throws {
        try backend.withSuite { suite in
            suite.layers = [.values(["b": 9]), .stored, .values(["a": 5, "b": 5, "Lens": ["zoom": 3.0]])]
            try suite.update { contents in
                contents[a] += 1
                contents[b] += try contents.read(b)
                #expect(contents[Lens.self].zoom == 3)
                #expect(contents[stored: Lens.self] == nil)
                contents[Lens.self].zoom = 3
            }
            #expect(try suite.contents() == ["a": 6, "b": 10])
            try suite.update { $0[Lens.self].name = "x" }
            #expect(PersistentStore<Lens>(in: suite).value == Lens(zoom: 3, name: "x"))
            // The default is a choice, because the layer has another value.
            try suite.update { contents in
                contents.remove(DefaultKey(Lens.self))
                #expect(contents[Lens.self] == Lens(zoom: 3))
                contents[Lens.self] = Lens()
            }
            #expect(PersistentStore<Lens>(in: suite).value == Lens())
            // A step of a migration edits what is stored.
            try suite.removeAll()
            try suite.update { contents in
                try contents.migrate("step") { contents in
                    #expect(contents[a] == 0)
                    contents[Lens.self].name = "y"
                }
            }
            #expect(try suite.contents()["Lens"] == ["name": "y"])
        }
    }

    @Test func textIsConvertedByTheTypeOfTheSetting() throws {
        let suite = DefaultsSuite.inMemory()
        suite.layers = [
            .environment(
                prefix: "APP_",
                [
                    "APP_ON": "yes", "APP_TEXT": "(007)", "APP_JSON": #"{"a": 1}"#, "APP_CAMERA_ZOOM": "2.5",
                    "APP_LENS": #"{"zoom": 3, "modes": ["a"]}"#, "APP_LIST": #"["x", "y"]"#, "APP_LAUNCHCOUNT": "7",
                    "APP_NUMBER": "x", "OTHER_A": "1",
                ]), .stored,
        ]
        #expect(suite[DefaultKey("on", default: false)])
        #expect(suite[DefaultKey("text", default: "")] == "(007)")
        #expect(suite[DefaultKey("json", default: "")] == #"{"a": 1}"#)
        #expect(suite[DefaultKey("list", default: [""])] == ["x", "y"])
        #expect(suite[DefaultKey("launchCount", default: 0)] == 7)
        for key in ["camera/zoom", "camera.zoom", "camera_zoom"] {
            let zoom = suite[DefaultKey(key, default: 1.0)]
            #expect(zoom == 2.5)
        }
        #expect(PersistentStore<Lens>(in: suite).value == Lens(zoom: 3, modes: ["a"]))
        #expect(suite[a] == 0)
    }

    @Test func aValueThatDoesNotConvertIsReportedWithTheNameOfTheLayer() throws {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        suite.layers = [
            Layer("admin") {
                ["a": "x-ray", "port": "4711", "Lens": ["zoom": 4711.0], "volume": "4711", "b": "z"][$0]
            },
            .values(["b": "4711-y", "Lens": ["zoom": 2.0]], name: "second"), .stored, .values(["b": 6]),
        ]
        #expect(suite[DefaultKey("port", default: 8080, rule: .in(1...100))] == 8080)
        #expect(suite[DefaultKey("volume", default: 5, rule: .clamped(to: 0...10))] == 10)
        #expect(suite[a] == 0)
        #expect(suite[b] == 6)
        #expect(PersistentStore<Lens>(in: suite).value == Lens(zoom: 2))
        #expect(PersistentStore<Lens>(in: suite).value == Lens(zoom: 2))
        #expect(failures.all.map(\.key) == ["port", "a", "b", "b", "Lens"])
        #expect(
            failures.all.map { $0.reason.contains("“second”") } == [false, false, false, true, false])
        #expect(failures.all.filter { $0.reason.contains("“admin”") }.count == 4)
        #expect(failures.all[0].reason == "the value of the layer “admin” is ignored: the value must be in 1...100")
        #expect(failures.all[4].path == ["zoom"])
        #expect(!"\(failures.all)".contains("4711"))
        suite.layers = suite.layers
        #expect(failures.all.count == 5)
    }

    // MARK: Configs

    private struct Camera: DefaultConfig, Equatable {
        static let key = "Camera"
        static let rules: [DefaultRule<Camera>] = [DefaultRule("low below high") { $0.low < $0.high }]
        var size = "medium"
        var low = 1
        var high = 5
        var note: String?
        var area = Area()
        struct Area: Codable, Equatable { var width = 4, height = 3 }
    }
    private let camera = DefaultKey(Camera.self)

    @Test(arguments: Backend.allCases)
    func aLayerReplacesThePropertiesThatItHas(backend: Backend) throws {
        try backend.withSuite { suite in
            try suite.update { $0["Camera"] = ["low": 2, "area": ["width": 7, "height": 7], "future": 1] }
            suite.layers = [
                .values(["Camera": ["high": 9]], name: "admin"),
                .arguments(["-Camera", #"{"high": 8, "note": "x"}"#]), .stored,
                .values(["Camera": ["size": "small", "low": 4, "area": ["width": 1]]], name: "customer"),
                .values(["Camera": ["size": "large"]], name: "bundle"),
            ]
            let expected = Camera(size: "small", low: 2, high: 9, note: "x", area: .init(width: 7, height: 7))
            #expect(suite[camera] == expected)
            #expect(try suite.read(camera, a).0 == expected)
            let heard = Heard { note in suite.observe(camera, initial: true) { note($0.value) } }
            suite[camera].low = 3
            try suite.update(camera) { $0.area.height = 1 }
            #expect(
                heard.all
                    == [2, 3, 3].map { low in
                        Camera(size: "small", low: low, high: 9, note: "x", area: expected.area)
                    }.enumerated().map { index, camera in
                        var camera = camera
                        if index == 2 { camera.area.height = 1 }
                        return camera
                    })
            let stored: PropertyList = ["low": 3, "area": ["width": 7, "height": 1], "future": 1]
            #expect(try suite.contents() == ["Camera": stored])
            // A nested struct is one property.
            suite.remove(camera)
            #expect(suite[camera].area == .init(width: 1, height: 3))
        }
    }

    @Test func aConfigIsManagedIfAllOfItIs() throws {
        let suite = DefaultsSuite.inMemory()
        let setting = UserDefault(camera, in: suite)
        suite.layers = [.values(["Camera": ["low": 2]], name: "admin"), .stored]
        #expect(!setting.isManaged)
        #expect(setting.source == .defaultValue)
        setting.value.size = "large"
        #expect(setting.source == .stored)
        let all = try PropertyList(encoding: Camera(note: "x"))
        suite.layers = [.values(["Camera": all], name: "admin"), .stored]
        #expect(setting.isManaged)
        #expect(setting.source == .layer("admin"))
        suite.layers = [.stored, .values(["Camera": all], name: "customer")]
        setting.reset()
        #expect(setting.source == .layer("customer"))
    }

    @Test func aPropertyOfTheWrongTypeGivesWayAlone() throws {
        let suite = DefaultsSuite.inMemory(["Camera": ["size": "small"]])
        let failures = Failures(of: suite)
        suite.layers = [.values(["Camera": ["size": [4711], "low": 3, "other": 1]], name: "admin"), .stored]
        #expect(suite[camera] == Camera(size: "small", low: 3))
        #expect(failures.all.map(\.path) == [["size"]])
        #expect(failures.all[0].reason.contains("“admin”") && !"\(failures.all)".contains("4711"))
    }

    /// Each of the two is valid with the default of the other.
    @Test(arguments: [true, false]) func aCombinationThatBreaksARuleGivesWay(isBefore: Bool) throws {
        let suite = DefaultsSuite.inMemory(["Camera": ["low": 4, "size": "small"]])
        let layer = Layer.values(["Camera": ["high": 3, "note": "x"]], name: "admin")
        suite.layers = isBefore ? [layer, .stored] : [.stored, layer]
        #expect(suite[camera] == Camera(size: "small", low: 4))
        suite[camera].low = 2
        // What was read behind stays, so it is stored.
        let (high, note) = isBefore ? (3, "x") : (5, nil)
        #expect(suite[camera] == Camera(size: "small", low: 2, high: high, note: note))
    }

    /// An edit that breaks a rule together with what is stored is refused. The property of the
    /// layer is not stored, nor is another one lost.
    @Test func anEditBehindALayerThatBreaksARuleIsRefused() throws {
        let suite = DefaultsSuite.inMemory(["Camera": ["high": 40, "size": "small"]])
        let failures = Failures(of: suite)
        suite.layers = [.values(["Camera": ["high": 100]], name: "admin"), .stored]
        suite[camera].low = 50
        #expect(failures.kinds == [.invalid])
        #expect(try suite.contents() == ["Camera": ["high": 40, "size": "small"]])
    }

    @Test(arguments: [true, false]) func layersThatChangeDuringAnUpdateStoreNothing(isSet: Bool) throws {
        let suite = DefaultsSuite.inMemory()
        let layers: [Layer] = [.stored, .values(["Camera": ["low": 3]], name: "customer")]
        if !isSet { suite.layers = layers }
        try suite.update(camera) { value in
            suite.layers = isSet ? layers : [.stored]
            value.size = "large"
        }
        #expect(try suite.contents() == ["Camera": ["size": "large"]])
        #expect(suite[camera] == Camera(size: "large", low: isSet ? 3 : 1))
    }

    @Test func aRemovedPropertyIsThatOfTheLayer() throws {
        let suite = DefaultsSuite.inMemory(["Camera": ["low": 4, "size": "small"]])
        suite.layers = [.stored, .values(["Camera": ["low": 3]], name: "customer")]
        let low = PersistentStore<Camera>(in: suite).map(\.low)
        for _ in 0..<2 {
            low.remove()
            #expect(try suite.contents() == ["Camera": ["size": "small"]])
            #expect(suite[camera].low == 3)
        }
        // The rest of a nested struct stays.
        suite[camera].area = .init(width: 7, height: 7)
        PersistentStore<Camera>(in: suite).map(\.area.width).remove()
        #expect(suite[camera].area == .init(width: 4, height: 7))
    }

    @Test func aLayerThatChangesIsAChange() throws {
        let flags = Guarded<[String: PropertyList]>(["a": 3])
        let suite = DefaultsSuite.inMemory()
        suite.layers = [Layer("flags") { key in flags.withLock { $0[key] } }, .stored]
        let heard = Heard { note in suite.observe(a) { note($0.newValue) } }
        flags.withLock { $0["a"] = 6 }
        #expect(suite[a] == 3)
        suite.layers = suite.layers
        #expect(suite[a] == 6)
        flags.withLock { $0 = [:] }
        suite.layers = suite.layers
        #expect(heard.all == [6, 0])
    }

    @Test(arguments: Backend.allCases)
    func observersReceiveTheDefaultOfALayer(backend: Backend) throws {
        try backend.withSuite { suite in
            suite.layers = [.stored, .values(["a": 7])]
            let heard = Guarded<[Int?]>([])
            let kinds = Guarded<[ChangeKind]>([])
            let token = suite.observe(a, initial: true) { change in
                heard.withLock { $0.append(change.newValue) }
                kinds.withLock { $0.append(change.kind) }
                #expect(suite[a] == change.newValue)
            }
            suite[a] = 7
            suite[a] = 8
            suite.remove(a)
            suite.layers = [.stored]
            #expect(heard.withLock { $0 } == [7, 8, 7, 0])
            #expect(kinds.withLock { $0 } == [.initial, .set, .removed, .removed])
            token.cancel()
        }
    }

    @Test(arguments: Backend.allCases)
    func sourceAndManagementAreTracked(backend: Backend) throws {
        try backend.withSuite { suite in
            let setting = UserDefault(a, in: suite)
            let fired = Guarded(0)
            fired.track { _ = setting.isManaged }
            suite.layers = [.values(["a": 0], name: "admin"), .stored]
            #expect(fired.withLock { $0 } == 1)
            #expect(setting.isManaged)
            let changes: [(source: DefaultSource, make: () -> Void)] = [
                (.layer("other"), { suite.layers = [.values(["a": 0], name: "other"), .stored] }),
                (.layer("values"), { suite.layers = [.stored, .values(["a": 0])] }),
                (.stored, { setting.value = 0 }), (.layer("values"), { setting.reset() }),
            ]
            for change in changes {
                let fired = Guarded(0)
                fired.track { _ = setting.source }
                change.make()
                #expect(fired.withLock { $0 } == 1)
                #expect(setting.source == change.source)
            }
            #expect(!setting.isManaged)
        }
    }

    @Test func anUnreadableValueIsNotTheSource() throws {
        let suite = DefaultsSuite.inMemory(["a": "x"])
        let failures = Failures(of: suite)
        #expect(UserDefault(a, in: suite).source == .defaultValue)
        #expect(suite[a] == 0)
        #expect(failures.kinds == [.unreadable])
    }

    final class Managed: DefaultsBackend {
        let stored = Guarded<[String: PropertyList]>([:])
        func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
            layer(of: key) == .managed ? 9 : stored.withLock { $0[key] }
        }
        func keys() throws(DefaultsError) -> [String] { stored.withLock { Array($0.keys) } }
        func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
            for edit in edits where layer(of: edit.key) == .managed {
                throw DefaultsError(.managed, key: edit.key, reason: "an administrator provides the value")
            }
            stored.withLock { stored in for edit in edits { stored[edit.key] = edit.value } }
            return .committed(generation: nil)
        }
        func layer(of key: String) -> BackendLayer { key == "a" ? .managed : .stored }
    }

    @Test func aBackendOfTheProgramSaysWhatIsManaged() {
        let suite = DefaultsSuite(backend: Managed())
        let failures = Failures(of: suite)
        let setting = UserDefault(a, in: suite)
        #expect(setting.isManaged)
        #expect(setting.source == .layer("managed"))
        setting.value = 1
        #expect(setting.value == 9)
        #expect(failures.kinds == [.managed])
        #expect(UserDefault(b, in: suite).source == .defaultValue)
    }
}
