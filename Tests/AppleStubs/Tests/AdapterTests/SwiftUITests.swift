import AppleFoundation
import Observation
import SwiftUI
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

extension DefaultKey<Bool> { fileprivate static let showsGrid = DefaultKey("showsGrid", default: true) }
extension DefaultKey<Int> { fileprivate static let quality = DefaultKey("quality", default: 8) }

@MainActor struct SwiftUITests {
    /// A view that takes its suite from the environment.
    private struct Settings: View {
        @Environment(\.defaultsSuite) private var suite
        var body: some View {
            Toggle("Grid", isOn: suite.binding(.showsGrid))
            Text("Quality \(suite[.quality])")
        }
    }

    private struct Config: DefaultConfig, Equatable {
        static let key = "Config"
        var savesToCameraRoll = true
        var zoom = 1
    }

    /// Takes its settings from the environment, too.
    private struct Wrapped: View {
        @ViewSetting(.showsGrid) private var showsGrid
        @ViewSetting private var config: Config
        var body: some View {
            Toggle("Grid", isOn: $showsGrid)
            Toggle("Camera roll", isOn: $config.savesToCameraRoll)
            Text("Grid \(showsGrid), camera roll \(config.savesToCameraRoll)")
        }

        func invert(whileAnotherThread writes: () -> Void) {
            func invert(_ value: inout Bool) {
                value.toggle()
                writes()
            }
            showsGrid.toggle()
            invert(&config.savesToCameraRoll)
        }
    }

    /// Shows where its setting comes from.
    private struct Origin: View {
        @ViewSetting(.showsGrid) private var showsGrid
        var body: some View { Text("\(_showsGrid.source) \(_showsGrid.isManaged)") }
    }

    private struct Screen: View {
        var body: some View {
            Text("Settings")
            Settings()
        }
    }

    @Test func aBindingReadsAndStores() {
        let suite = DefaultsSuite.inMemory()
        let setting = UserDefault(.showsGrid, in: suite)
        let binding = setting.binding
        #expect(binding.wrappedValue)
        binding.wrappedValue = false
        #expect(!setting.value)
        setting.reset()
        #expect(binding.wrappedValue)
        suite.binding(.quality).wrappedValue = 3
        #expect(suite[.quality] == 3)
    }

    @Test func aBindingOfAPropertyStoresThatPropertyOnly() throws {
        struct Camera: DefaultConfig {
            static let key = "Camera"
            var savesToCameraRoll = true
            var size = "medium"
            var zoom = 1
        }
        let suite = DefaultsSuite.inMemory()
        let binding = suite.binding(DefaultKey(Camera.self))
        binding.size.wrappedValue = "large"
        #expect(try suite.contents() == ["Camera": ["size": "large"]])
        // As SwiftUI does it; another thread changes a property in between.
        var camera = binding.wrappedValue
        camera.savesToCameraRoll = false
        suite[DefaultKey(Camera.self)].zoom = 2
        binding.wrappedValue = camera
        #expect(try suite.contents() == ["Camera": ["size": "large", "savesToCameraRoll": false, "zoom": 2]])
        // Again without a read.
        suite[DefaultKey(Camera.self)].zoom = 3
        camera.savesToCameraRoll = true
        binding.wrappedValue = camera
        #expect(try suite.contents() == ["Camera": ["size": "large", "savesToCameraRoll": true, "zoom": 3]])
        try suite.removeAll()
        suite.binding(DefaultKey(Camera.self)).wrappedValue = Camera()
        #expect(try suite.contents() == ["Camera": [:]])
    }

    @Test func aBindingKeepsItsTransaction() {
        struct Switches: View {
            @ViewSetting(.showsGrid) private var showsGrid
            @ViewSetting private var config: Config
            var body: some View {
                Toggle("Grid", isOn: $showsGrid.animation())
                Toggle("Camera roll", isOn: $config.animation().savesToCameraRoll)
            }
        }
        let suite = DefaultsSuite.inMemory()
        func transaction(_ change: () -> Void) -> [String] {
            let seen = Guarded<[String]>(["not told"])
            withObservationTracking {
                _ = (suite[.showsGrid], suite[DefaultKey(Config.self)])
            } onChange: {
                let transaction = currentTransaction()
                seen.withLock { seen in
                    seen = transaction.animation == .default ? ["animated"] : []
                    if transaction.disablesAnimations { seen.append("disabled") }
                }
            }
            change()
            return seen.now
        }
        var plain = Transaction()
        plain.disablesAnimations = true
        for binding in [suite.binding(.showsGrid), UserDefault(.showsGrid, in: suite).binding] {
            #expect(transaction { binding.animation().wrappedValue.toggle() } == ["animated"])
            #expect(transaction { binding.transaction(plain).wrappedValue.toggle() } == ["disabled"])
            #expect(transaction { binding.wrappedValue.toggle() } == [])
            #expect(transaction { withAnimation { binding.wrappedValue.toggle() } } == ["animated"])
        }
        let config = suite.binding(DefaultKey(Config.self))
        #expect(transaction { config.animation().savesToCameraRoll.wrappedValue = false } == ["animated"])
        #expect(transaction { config.savesToCameraRoll.animation().wrappedValue = true } == ["animated"])
        #expect(draw(Switches().environment(\.defaultsSuite, suite)) == ["Grid: on", "Camera roll: on"])
    }

    /// SwiftUI compares the fields of a view to decide whether its `body` must run.
    @Test func aSettingIsEqualToItselfFromOneInitToTheNext() {
        func isSame<Field>(_ one: Field, _ other: Field) -> Bool {
            withUnsafeBytes(of: one) { one in withUnsafeBytes(of: other) { one.elementsEqual($0) } }
        }
        #expect(isSame(ViewSetting<Config>(), ViewSetting<Config>()))
        #expect(isSame(ViewSetting(.showsGrid), ViewSetting(.showsGrid)))
        let quality = DefaultKey("quality", default: 8)
        #expect(!isSame(quality, .quality))
    }

    @Test func aViewIsToldOfItsOwnWriteBeforeTheWriteReturns() throws {
        try withDomain { name, defaults in
            let suite = DefaultsSuite(userDefaults: defaults, suiteName: name)
            let told = Guarded(0)
            func track() {
                withObservationTracking {
                    _ = suite[.showsGrid]
                } onChange: {
                    told.withLock { $0 += 1 }
                }
            }
            track()
            suite[.showsGrid] = false
            #expect(told.now == 1)

            // An observer of another key is busy on another thread.
            let gate = Gate()
            let token = suite.observe(.quality) { _ in gate.pass() }
            track()
            gate.holding {
                suite[.quality] = 1
            } _: {
                suite[.showsGrid] = true
                #expect(told.now == 2)
            }
            token.cancel()
        }
    }

    @Test func aWrapperReadsAndWritesTheSuiteOfTheEnvironment() {
        let suite = DefaultsSuite.inMemory(["showsGrid": false])
        let drawn = drawCountingUpdates(Wrapped().environment(\.defaultsSuite, suite))
        #expect(drawn.lines == ["Grid: off", "Camera roll: on", "Grid false, camera roll true"])
        suite[DefaultKey(Config.self)].savesToCameraRoll = false
        #expect(drawn.count.now == 1)
        #expect(
            draw(Wrapped().environment(\.defaultsSuite, suite)) == [
                "Grid: off", "Camera roll: off", "Grid false, camera roll false",
            ])
        // Without an environment, the standard suite is used.
        DefaultsSuite.withStandard(suite) {
            Wrapped().invert { suite[DefaultKey(Config.self)].zoom = 2 }
        }
        #expect(suite[.showsGrid])
        #expect(suite[DefaultKey(Config.self)] == Config(savesToCameraRoll: true, zoom: 2))
    }

    @Test func aViewShowsWhereAValueComesFrom() {
        let suite = DefaultsSuite.inMemory()
        let view = Origin().environment(\.defaultsSuite, suite)
        var drawn = drawCountingUpdates(view)
        #expect(drawn.lines == ["defaultValue false"])
        suite[.showsGrid] = false
        #expect(drawn.count.now == 1)
        drawn = drawCountingUpdates(view)
        #expect(drawn.lines == ["stored false"])
        // The value stays the same.
        suite.layers = [.values(["showsGrid": false], name: "admin"), .stored]
        #expect(drawn.count.now == 1)
        #expect(draw(view) == [#"layer("admin") true"#])
    }

    /// Draws a view, and counts the updates that its values cause.
    private func drawCountingUpdates(_ view: some View) -> (lines: [String], count: Guarded<Int>) {
        let count = Guarded(0)
        let lines = withObservationTracking {
            draw(view)
        } onChange: {
            count.withLock { $0 += 1 }
        }
        return (lines, count)
    }

    @Test func aViewUpdatesOnlyForChangesOfValuesItShows() {
        let suite = DefaultsSuite.inMemory()
        let other = DefaultKey<Int?>("another")
        let drawn = drawCountingUpdates(Screen().environment(\.defaultsSuite, suite))
        #expect(drawn.lines == ["Settings", "Grid: on", "Quality 8"])
        suite[other] = 1
        #expect(drawn.count.now == 0)
        suite[.showsGrid] = false
        #expect(drawn.count.now == 1)
        let again = drawCountingUpdates(Screen().environment(\.defaultsSuite, suite))
        suite[.showsGrid] = false
        #expect(again.count.now == 0)
        suite[.quality] = 9
        #expect(again.count.now == 1)
    }

    @Test func aPreviewKeepsTheStandardSuiteInMemory() async {
        await #expect(processExitsWith: .success) { @MainActor in
            struct Quality: View {
                let quality = UserDefault(.quality)
                @Environment(\.defaultsSuite) private var suite
                var body: some View { Text("Quality \(quality.value), \(suite[.quality])") }
            }
            #expect(drawPreview(IsolatedDefaults(["quality": 3]), Quality()) == ["Quality 3, 3"])
            UserDefault(.quality).value = 4
            #expect(draw(Quality()) == ["Quality 4, 4"])
            #expect(drawPreview(IsolatedDefaults(), Quality()) == ["Quality 8, 8"])
            #expect(DefaultsSuite.standard.location == nil)
        }
    }
}
