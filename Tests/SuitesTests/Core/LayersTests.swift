import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

private let number = DefaultKey("number", default: 1)

private func arguments(_ text: String...) -> [DefaultsSuite.Layer] { [.arguments(text), .stored] }

struct LayersTests {
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
                    // On a busy machine, a writer may wait for the others for too long.
                    while (try? suite.update { ($0[number], $0[other]) = ($0[number] + 1, $0[other] + 1) }) == nil {}
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
        @Test(.ownThreads) func theStoredValuesAreOneLayer() async {
            await #expect(processExitsWith: .failure) { DefaultsSuite.inMemory().layers = [] }
            await #expect(processExitsWith: .failure) { DefaultsSuite.inMemory().layers = [.arguments([])] }
            await #expect(processExitsWith: .failure) { DefaultsSuite.inMemory().layers = [.stored, .stored] }
        }
    #endif
}
