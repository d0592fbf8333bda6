import Observation
import Testing
import TypedDefaults

#if MainActorClient
    import MainActorCamera
#else
    import Camera
#endif

@MainActor @Suite(.serialized) struct SettingsTests {
    init() throws { try Settings.shared.removeAll() }

    @Test func aWrapperStandsAnywhere() async throws {
        let (settings, holder, worker, model) = (Settings(), Holder(), Worker(), SettingsModel())
        settings.count += 1
        holder.count += 1
        Shown.count += 1
        Anywhere.count.value += 1
        model.count += 1
        #expect(try await worker.add(1) == 15)
        #expect(settings.count == 15)
        #expect(await Task.detached { Anywhere.count.value }.value == 15)
        settings.nickname = "kai"
        settings.mode = .video
        settings.theme = .dark
        settings.grid.columns = 4
        #expect(Settings().nickname == "kai" && Settings().mode == .video && Settings().theme == .dark)
        let columns = await Task.detached { [grid = settings.$grid] in grid.value.columns }.value
        #expect(columns == 4)
    }

    @Test func aKeyIsUsedInClosuresForOtherThreads() async throws {
        #expect(try await countLaunches(in: .inMemory()) == 3)
    }

    @Test func theRuleOfAKeyHolds() {
        let suite = DefaultsSuite.inMemory()
        Player(suite: suite).turnUp(by: 9)
        #expect(suite[.volume] == 10)
    }
}
