import Observation
import Testing
import TypedDefaults

#if MainActorClient
    import MainActorCamera
#else
    import Camera
#endif

@MainActor struct CameraTests {
    @Test func theModelTakesAStoreInMemory() throws {
        let model = CameraModel(config: .inMemory(CameraConfig()), zoom: .inMemory())
        try model.shoot()
        try model.shoot()
        #expect(model.zoom.get() == Zoom(factor: 4))
        #expect(model.shots == 2)
        try model.config.update { $0.flash.isOn = true }
        #expect(model.config.value.flash.isOn)
    }

    @Test func theModelHearsOnTheMainActor() async throws {
        let model = CameraModel(config: .inMemory(CameraConfig()), zoom: .inMemory())
        model.observe()
        try model.config.updateStored { $0?.size = .large }
        try model.shoot()
        while model.sizes.count < 2 { await Task.yield() }
        #expect(model.sizes == [.medium, .large])
        #expect(await model.sizes(until: .large) == [.large])
    }

    /// Holding an `AnyStore` in an `@Observable` model is enough.
    @Test func aReadInsideTrackingRegisters() {
        let model = CameraModel(config: .inMemory(CameraConfig()), zoom: .inMemory())
        // Safe: used on the main actor only, where the changes are made.
        final class Count: Sendable {
            nonisolated(unsafe) var value = 0
        }
        let fired = Count()
        withObservationTracking {
            _ = model.config.get()
        } onChange: {
            fired.value += 1
        }
        model.config.set(CameraConfig())
        #expect(fired.value == 0)
        model.config.remove()
        #expect(fired.value == 1)
    }

    @Test func aForeignStoreCanBeBoxed() {
        let model = CameraModel(config: AnyStore(FixedStore()), zoom: .inMemory())
        #expect(model.config.get() == CameraConfig())
    }

    @Test func everyKindOfDeclarationIsStored() async throws {
        let suite = DefaultsSuite.inMemory(["Mode": "video"])
        #expect(PersistentStore<Mode>(in: suite).get() == .video)
        PersistentStore<Owner>(in: suite).set(Owner(name: "Kai"))
        // Off the main actor, where an isolated conformance would not be found.
        let name = await Task.detached { PersistentStore<Owner>(in: suite).get()?.name }.value
        #expect(name == "Kai")
        let flash = await Task.detached {
            let store = PersistentStore<CameraConfig>(in: suite)
            store.set(CameraConfig())
            return store.get()?.flash
        }.value
        #expect(flash == CameraConfig().flash)
        let columns = await Task.detached {
            suite[Keys.grid].columns += 1
            suite[Keys.theme] = .dark
            return suite[Keys.grid].columns
        }.value
        #expect(columns == Grid().columns + 1)
        suite[.launchCount] += 1
        #expect(suite[.launchCount] == 1)
    }
}
