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

    @Test func aConfigIsAClassOfSettings() async throws {
        let suite = DefaultsSuite.inMemory()
        let config = AppConfig(in: suite)
        config.selectedHobbies.append("golf")
        config.nickname = "kai"
        let userName = config.$userName
        try await Task.detached { try userName.update { $0 = "krimpedance" } }.value
        #expect(AppConfig(in: suite).userName == "krimpedance")
        #expect(AppConfig(in: suite).selectedHobbies == ["golf"])
        config.reset()
        #expect(config.nickname == nil)
        SharedConfig.shared.number += 1
        #expect(SharedConfig.shared.number == 2)
        let child = ChildConfig(in: suite, identifier: "app")
        child.userName = "child"
        #expect(child.allKeys == ["app/ChildConfig/userName", "app/ChildConfig/isVerified"])
        #expect(BaseConfig(in: suite, identifier: "app").userName == "guest")
    }

    @Test func aNamespaceIsCalledAsTheRecipeSays() {
        let suite = DefaultsSuite.inMemory()
        Namespace.set("krimpedance", forKey: .userName, source: suite)
        Namespace.set(true, forKey: .needsBackup, source: suite)
        #expect(Namespace.object(for: .userName, source: suite) as? String == "krimpedance")
        #expect(Namespace.bool(forKey: .needsBackup, source: suite))
    }
}
