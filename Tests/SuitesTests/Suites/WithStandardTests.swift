// On Apple platforms the standard suite is the user's own.
#if !canImport(Darwin)
    import Dispatch
    import TestSupport
    import Foundation
    import Testing
    import TypedDefaults

    private enum Settings {
        static let quality = UserDefault("withStandard.quality", default: 0.8)
        static let firstUsedInside = UserDefault("withStandard.firstUsedInside", default: 1)
    }

    private struct Edited: DefaultConfig {
        static let key = "withStandard.edited"
        var count = 0
    }

    private struct Wrappers {
        @UserDefault("withStandard.count") var count = 9
    }

    /// Each test runs in a process of its own, so that the user's settings are not touched.
    @Suite(.ownThreads) struct WithStandardTests {
        private static let checks: [String: @Sendable () async throws -> Void] = [
            "editsInPlaceAreStoredInTheOtherSuite": editsInPlaceAreStoredInTheOtherSuite,
            "whatWasMadeBeforeUsesTheOtherSuite": whatWasMadeBeforeUsesTheOtherSuite,
            "tasksOfTheFunctionUseTheOtherSuiteAndOtherThreadsDoNot":
                tasksOfTheFunctionUseTheOtherSuiteAndOtherThreadsDoNot,
            "aScopeOrAnotherNestedSuiteStandsIn": aScopeOrAnotherNestedSuiteStandsIn,
            "observersStayWithTheSuiteInWhichTheyBegan": observersStayWithTheSuiteInWhichTheyBegan,
            "failuresGoToTheOtherSuite": failuresGoToTheOtherSuite,
            "theOtherSuiteHasItsOwnLayers": theOtherSuiteHasItsOwnLayers,
        ]

        @Test(.ownFile, arguments: checks.keys.sorted()) func anotherSuiteStandsIn(check: String) async {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String, check = check as String] in
                unsetenv("TYPED_DEFAULTS_STANDARD")
                setenv("XDG_CONFIG_HOME", folder, 1)
                let run = try #require(WithStandardTests.checks[check])
                try await run()
            }
        }

        @Test func theStandardSuiteCannotStandInForItself() async {
            await #expect(processExitsWith: .failure) {
                DefaultsSuite.withStandard(.standard.scoped("test/")) {}
            }
        }

        /// Also of a store that was made before.
        fileprivate static func editsInPlaceAreStoredInTheOtherSuite() throws {
            let (store, suite) = (PersistentStore<Edited>(), DefaultsSuite.inMemory())
            store.value.count = 1
            DefaultsSuite.withStandard(suite) { store.value.count += 5 }
            #expect(try suite.contents() == ["withStandard.edited": ["count": 5]])
            #expect(store.value.count == 1)
        }

        fileprivate static func whatWasMadeBeforeUsesTheOtherSuite() throws {
            let wrappers = Wrappers()
            let store = AnyStore<CameraConfig>.persistent()
            Settings.quality.value = 0.1
            wrappers.count = 1
            store.set(CameraConfig(size: .small))
            let stored = try DefaultsSuite.standard.contents()
            let other = DefaultsSuite.inMemory()
            try DefaultsSuite.withStandard(other) {
                #expect(Settings.quality.value == 0.8)
                #expect(wrappers.count == 9)
                #expect(store.get() == nil)
                #expect(try DefaultsSuite.standard.keys() == [])
                #expect(!Settings.quality.isSet)
                Settings.quality.value = 0.5
                wrappers.count = 3
                try store.save(CameraConfig(size: .large))
                try Settings.quality.update { $0 += 0.25 }
                Settings.firstUsedInside.value = 2
                try DefaultsSuite.standard.update { $0["raw"] = 7 }
                DefaultsSuite.standard.scoped("user/")[DefaultKey("name", default: "")] = "x"
                #expect(Settings.quality.value == 0.75)
                #expect(store.get()?.size == .large)
                #expect(try DefaultsSuite.standard.contents() == other.contents())
                wrappers.$count.reset()
                #expect(wrappers.count == 9)
            }
            #expect(try DefaultsSuite.standard.contents() == stored)
            #expect(try other.keys().count == 5)
            #expect(Settings.quality.value == 0.1)
            #expect(wrappers.count == 1)
            // A static that is initialized inside is still a setting of the standard suite.
            #expect(Settings.firstUsedInside.value == 1)
        }

        fileprivate static func tasksOfTheFunctionUseTheOtherSuiteAndOtherThreadsDoNot() async {
            Settings.quality.value = 0.1
            await DefaultsSuite.withStandard(.inMemory()) {
                Settings.quality.value = 0.2
                async let child = Settings.quality.value
                #expect(await child == 0.2)
                #expect(await Task { Settings.quality.value }.value == 0.2)
                #expect(await Task.detached { Settings.quality.value }.value == 0.1)
                #expect(DispatchQueue.global().sync { Settings.quality.value } == 0.2)
                let thread = await withCheckedContinuation { continuation in
                    DispatchQueue.global().async { continuation.resume(returning: Settings.quality.value) }
                }
                #expect(thread == 0.1)
            }
            #expect(Settings.quality.value == 0.1)
        }

        fileprivate static func aScopeOrAnotherNestedSuiteStandsIn() throws {
            let other = DefaultsSuite.inMemory()
            try DefaultsSuite.withStandard(other.scoped("test/")) { () throws in
                Settings.quality.value = 0.5
                DefaultsSuite.withStandard(.inMemory()) { #expect(Settings.quality.value == 0.8) }
                #expect(Settings.quality.value == 0.5)
                #expect(try DefaultsSuite.standard.keys() == ["withStandard.quality"])
            }
            #expect(try other.keys() == ["test/withStandard.quality"])
        }

        fileprivate static func observersStayWithTheSuiteInWhichTheyBegan() {
            let values = Guarded<[String]>([])
            func observe(_ name: String) -> ObservationToken {
                Settings.quality.observe { change in values.withLock { $0.append("\(name) \(change.newValue ?? -1)") } }
            }
            let outer = observe("outer")
            DefaultsSuite.withStandard(.inMemory()) {
                let inner = observe("inner")
                let fired = Guarded(0)
                fired.track { _ = Settings.quality.value }
                Settings.quality.value = 0.2
                #expect(fired.withLock { $0 } == 1)
                inner.cancel()
            }
            Settings.quality.value = 0.3
            #expect(values.withLock { $0 } == ["inner 0.2", "outer 0.3"])
            outer.cancel()
        }

        fileprivate static func failuresGoToTheOtherSuite() {
            let other = DefaultsSuite.inMemory(["withStandard.quality": "no number"])
            let failures = Failures(of: other)
            DefaultsSuite.withStandard(other) { #expect(Settings.quality.value == 0.8) }
            #expect(failures.kinds == [.unreadable])
        }

        fileprivate static func theOtherSuiteHasItsOwnLayers() {
            let standard = DefaultsSuite.standard
            standard.layers = [.arguments(["-withStandard.quality", "0.5"]), .stored]
            #expect(Settings.quality.value == 0.5)
            DefaultsSuite.withStandard(.inMemory()) {
                #expect(standard.layers.count == 1)
                #expect(Settings.quality.value == 0.8)
                standard.layers = [.arguments(["-withStandard.quality", "0.4"]), .stored]
                #expect(Settings.quality.value == 0.4)
                standard.layers = [.stored]
                #expect(Settings.quality.value == 0.8)
            }
            #expect(Settings.quality.value == 0.5)
            standard.layers = [.stored]
            #expect(Settings.quality.value == 0.8)
        }
    }
#endif
