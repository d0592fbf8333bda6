import Foundation
import Observation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

private let number = DefaultKey("number", default: 1)

private func arguments(_ text: String...) -> [DefaultsSuite.Layer] { [.arguments(text), .stored] }

struct LayersTests {
    /// A server follows a file by setting its layers again.
    @Test func severalKeysAreReadFromOneSetOfLayers() throws {
        let suite = DefaultsSuite.inMemory()
        let other = DefaultKey("other", default: 1)
        let isOver = Guarded(false)
        let ended = onThread {
            var count = 1
            while !isOver.withLock({ $0 }) {
                count += 1
                suite.layers = [.values(["number": .integer(.init(count)), "other": .integer(.init(count))]), .stored]
            }
        }
        for _ in 0..<5_000 {
            let (one, two) = try suite.read(number, other)
            #expect(one == two)
        }
        isOver.withLock { $0 = true }
        ended.wait()
    }

    /// Also if a handler takes longer than the next commits.
    @Test(arguments: Backend.allCases)
    func observersOfSeveralKeysGetTheValuesOfEachCommit(backend: Backend) throws {
        try backend.withSuite { suite in
            let other = DefaultKey("other", default: 1)
            let heard = Guarded<[Int]>([])
            let token = suite.observe(number, other) { number, other in
                #expect(number == other)
                heard.withLock { $0.append(number) }
                usleep(1_000)
            }
            onThreads(4) { _ in
                for _ in 0..<20 {
                    _ = try? suite.update { contents in
                        contents[number] += 1
                        contents[other] += 1
                    }
                }
            }
            suite.waitForHandlers()
            #expect(heard.withLock { $0 } == Array(2...81))
            token.cancel()
        }
    }

    @Test(arguments: Backend.allCases)
    func layersSetLateAreReadAndNeverStored(backend: Backend) throws {
        try backend.withSuite { suite in
            let setting = UserDefault(number, in: suite)
            let camera = PersistentStore<CameraConfig>(in: suite)
            setting.value = 5
            #expect(suite[number] == 5)
            #expect(camera.get() == nil)

            suite.layers = arguments("-number", "7", "-CameraConfig", "{size = small; savesToCameraRoll = NO;}")
            #expect(suite[number] == 7)
            #expect(setting.value == 7)
            #expect(try suite.read(number) == 7)
            #expect(try setting.store.load() == 7)
            #expect(camera.get()?.size == .small)
            #expect(try camera.load()?.savesToCameraRoll == false)

            #expect(try suite.contents() == ["number": 5])
            #expect(try suite.keys() == ["number"])
            #expect(!suite.contains(DefaultKey("CameraConfig", default: CameraConfig())))
            try suite.update { contents in #expect(contents[number] == 5) }
            try setting.update { #expect($0 == 5) }
            try setting.update { $0 += 1 }
            try suite.update(number) { $0 += 1 }
            #expect(try suite.contents() == ["number": 7])
            #expect(suite[number] == 7)

            setting.value = 8
            #expect(suite[number] == 7)
            suite.layers = [.stored]
            #expect(suite[number] == 8)
            #expect(try suite.read(number) == 8)
            #expect(camera.get() == nil)
        }
    }

    @Test func aSettingDeclaredLaterHasTheValueOfTheLayer() {
        let suite = DefaultsSuite.inMemory(["number": 5])
        suite.layers = arguments("-number", "7", "-new", "8")
        #expect(suite[number] == 7)
        #expect(UserDefault("new", default: 0, in: suite).value == 8)
        #expect(suite[DefaultKey<PropertyList?>("number")] == "7")
    }

    private struct Zoom: DefaultConfig, Equatable {
        static let key = "zoom"
        var factor = 2.0
        var isDigital = false
    }

    @Test func aPropertyThatTheArgumentOfAConfigLacksIsTheStoredOne() {
        let suite = DefaultsSuite.inMemory(["zoom": ["factor": 3.0, "isDigital": true]])
        suite.layers = arguments("-zoom", "{factor = \"1.5\";}")
        #expect(PersistentStore<Zoom>(in: suite).value == Zoom(factor: 1.5, isDigital: true))
    }

    @Test func aValueOfTheWrongTypeIsReportedOnceAndIgnored() {
        let suite = DefaultsSuite.inMemory(["number": 5])
        let failures = Failures(of: suite)
        let setting = UserDefault(number, in: suite)
        suite.layers = arguments("-number", "seven")
        for _ in 0..<3 {
            #expect(suite[number] == 5)
            #expect(setting.value == 5)
            suite.layers = arguments("-number", "seven")
        }
        #expect(failures.kinds == [.unreadable])
        #expect(failures.all.first?.key == "number")
        #expect(!"\(failures.all)".contains("seven"))
        suite.layers = arguments("-number", "eight")
        #expect(failures.kinds == [.unreadable, .unreadable])
        suite.layers = arguments("-number", "8")
        #expect(suite[number] == 8)
    }

    @Test func aValueThatWasReportedIsNotReportedByANewSlot() {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        suite.layers = arguments("-number", "seven")
        #expect(suite[DefaultKey("number", default: 1)] == 1)
        // Unused slots are removed when there are many.
        for index in 0..<2_000 { _ = suite[DefaultKey("k\(index)", default: 0)] }
        #expect(suite[DefaultKey("number", default: 1)] == 1)
        #expect(failures.kinds == [.unreadable])
    }

    // Observers

    @Test(.timeLimit(.minutes(5)), arguments: Backend.allCases)
    func observersReceiveTheOutcomeOnce(backend: Backend) throws {
        try backend.withSuite { suite in
            let setting = UserDefault(number, in: suite)
            let heard = Guarded<[[Int?]]>([])
            let kinds = Guarded<[ChangeKind]>([])
            let token = setting.store.observe(initial: true) { change in
                heard.withLock { $0.append([change.oldValue, change.newValue]) }
                kinds.withLock { $0.append(change.kind) }
                #expect(change.origin == .local)
            }
            #expect(heard.withLock { $0 } == [[nil, nil]])
            suite.layers = arguments("-number", "7")
            #expect(heard.withLock { $0 } == [[nil, nil], [nil, 7]])
            // Writes of hidden values, equal layers, and an equal value from another text.
            setting.value = 5
            setting.reset()
            setting.value = 6
            suite.layers = arguments("-number", "7")
            suite.layers = arguments("-number", "<integer>7</integer>")
            suite.layers = arguments("-other", "1", "-number", "<real>7.0</real>")
            #expect(heard.withLock { $0.count } == 2)
            suite.layers = [.stored]
            #expect(heard.withLock { $0.last } == [7, 6])
            suite.layers = arguments("-number", "6")
            suite.layers = arguments("-number", "wrong")
            setting.value = 9
            #expect(heard.withLock { $0 } == [[nil, nil], [nil, 7], [7, 6], [6, 9]])
            suite.layers = arguments("-number", "4")
            setting.reset()
            suite.layers = [.stored]
            #expect(heard.withLock { $0.suffix(2) } == [[9, 4], [4, nil]])
            #expect(kinds.withLock { $0 } == [.initial, .set, .set, .set, .set, .removed])
            token.cancel()
            suite.layers = arguments("-number", "7")
            #expect(heard.withLock { $0.count } == 6)
        }
    }

    @Test func observersOfASuiteReceiveWhatIsStored() {
        let suite = DefaultsSuite.inMemory()
        let setting = UserDefault(number, in: suite)
        let heard = Heard { note in suite.observeAll { note($0) } }
        suite.layers = arguments("-number", "7")
        #expect(heard.all == [])
        setting.value = 5
        #expect(heard.all.map(\.keys) == [["number"]])
    }

    @Test func trackersAreNotifiedIfTheValueChanges() {
        let suite = DefaultsSuite.inMemory(["number": 5, "other": 1])
        let (setting, other) = (UserDefault(number, in: suite), UserDefault("other", default: 0, in: suite))
        let fired = Guarded(0)
        func track() { fired.track { _ = (setting.value, other.value) } }
        track()
        suite.layers = arguments("-missing", "1")
        #expect(fired.withLock { $0 } == 0)
        // The same value comes from elsewhere.
        suite.layers = arguments("-number", "5", "-missing", "1")
        #expect(fired.withLock { $0 } == 1)
        track()
        suite.layers = arguments("-number", "5")
        #expect(fired.withLock { $0 } == 1)
        suite.layers = arguments("-number", "7")
        #expect(fired.withLock { $0 } == 2)
        #expect(setting.value == 7)
        track()
        suite.layers = [.stored]
        #expect(fired.withLock { $0 } == 3)
        #expect(setting.value == 5)
    }

    /// Whether a value is stored does not depend on a layer.
    @Test func trackersAreNotifiedIfAValueBehindALayerIsStored() {
        struct Settings {
            @UserDefault<Int> var number: Int
            init(in suite: DefaultsSuite) { _number = UserDefault("number", default: 0, in: suite) }
        }
        let suite = DefaultsSuite.inMemory()
        suite.layers = arguments("-number", "7")
        let (settings, fired) = (Settings(in: suite), Guarded(0))
        fired.track { #expect(!settings.$number.isSet) }
        settings.number = 5
        #expect(fired.withLock { $0 } == 1)
        #expect(settings.$number.isSet)
        #expect(settings.number == 7)
    }

    @Test(.timeLimit(.minutes(5))) func anObserverThatSetsLayersEndlesslyIsStopped() {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let calls = Guarded(0)
        let token = UserDefault(number, in: suite).observe(initial: false) { change in
            calls.withLock { $0 += 1 }
            suite.layers = arguments("-number", "\(change.newValue! + 1)")
        }
        suite.layers = arguments("-number", "2")
        #expect(failures.kinds == [.nestedWrite])
        #expect(calls.withLock { $0 } == 100)
        token.cancel()
    }

    @Test func layersCanBeSetInsideAnUpdateAndObserversHearItAfterwards() throws {
        let suite = DefaultsSuite.inMemory(["number": 5])
        let setting = UserDefault(number, in: suite)
        let heard = Heard { note in setting.observe(initial: false) { note($0.newValue) } }
        try setting.update { value in
            suite.layers = arguments("-number", "7")
            #expect(heard.all == [])
            value += 1
        }
        #expect(heard.all == [7])
        #expect(try suite.contents() == ["number": 6])
    }

    @Test(.timeLimit(.minutes(5))) func threadsThatSetLayersLeaveAllSettingsWithTheLastOnes() throws {
        for _ in 0..<50 {
            let suite = DefaultsSuite.inMemory()
            onThreads(4) { thread in
                for index in 0..<20 {
                    suite.layers = [.arguments((0..<20).flatMap { ["-k\($0)", "\(thread)"] }), .stored]
                    _ = suite[DefaultKey("k\(index)", default: -1)]
                }
            }
            let values = Set((0..<20).map { suite[DefaultKey("k\($0)", default: -1)] })
            #expect(values.count == 1)
            #expect(values.first.map { (0..<4).contains($0) } == true)
        }
    }

    // Scopes

    @Test func aScopeHasTheLayersOfItsSuite() {
        let suite = DefaultsSuite.inMemory()
        let scope = suite.scoped("user-42/")
        scope.layers = arguments("-user-42/number", "7", "-number", "8")
        #expect(scope[number] == 7)
        #expect(suite[number] == 8)
        #expect(suite.scoped("user-4/")[number] == 1)
        #expect(suite.layers.count == 2)
        suite.layers = [.stored]
        #expect(scope[number] == 1)
        #expect(scope.layers.count == 1)
    }

    @Test func descriptionsShowNoValue() {
        let layers = arguments("-number", "secret")
        var dumped = ""
        dump(layers, to: &dumped)
        #expect(!"\(layers) \(dumped)".contains("secret"))
        #expect("\(layers)" == "[Layer(arguments), Layer(stored)]")
    }

    #if os(macOS) || os(Linux)
        @Test func theStoredValuesAreOneLayer() async {
            await #expect(processExitsWith: .failure) { DefaultsSuite.inMemory().layers = [] }
            await #expect(processExitsWith: .failure) { DefaultsSuite.inMemory().layers = [.arguments([])] }
            await #expect(processExitsWith: .failure) { DefaultsSuite.inMemory().layers = [.stored, .stored] }
        }
    #endif
}
