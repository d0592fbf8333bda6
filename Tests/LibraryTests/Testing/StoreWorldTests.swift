import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

@Suite(.collectsIssues) struct StoreWorldTests {
    struct Camera: DefaultConfig {
        static let key = "Camera"
        enum Size: String, Codable, CaseIterable { case small, large }
        struct Lens: Codable, Sendable { var focus = 5 }
        var zoom = 1.0
        var size = Size.small
        var grid = false
        var lens = Lens()
    }

    /// A view model that doubles the zoom.
    @MainActor class Model {
        let config: AnyStore<Camera>
        var message: String?
        init(_ config: AnyStore<Camera>) { self.config = config }
        var zoom: Double { config.value.zoom }
        func zoomIn() throws {
            do {
                try config.update { $0.zoom *= 2 }
                message = nil
            } catch { message = "The zoom could not be saved." }
        }
    }

    @MainActor private func issues(_ body: @MainActor () async -> Void) async -> [String] {
        await CollectedIssues.awaiting(body).map(\.text)
    }

    /// Returns what is found in a world.
    @MainActor private func check(
        _ world: StoreWorld<Camera>, _ make: @MainActor (AnyStore<Camera>) throws -> Model
    ) async -> [String] {
        await issues {
            await world.check {
                try make($0)
            } act: {
                try $0.zoomIn()
            } shows: {
                $0.zoom == $1.zoom
            } reports: {
                $0.message != nil
            }
        }
    }

    // --- Models that do right ---
    @MainActor final class Observing: Model {
        private var shown = 0.0
        private var token: ObservationToken?
        override init(_ config: AnyStore<Camera>) {
            super.init(config)
            token = config.observeOnMainActor(initial: true) { [weak self] in self?.shown = $0.value.zoom }
        }
        override var zoom: Double { shown }
    }
    @MainActor final class Mapping: Model {
        override func zoomIn() throws { try config.map(\.zoom).update(default: 1) { $0 *= 2 } }
    }
    /// Acts only if another property allows it.
    @MainActor final class Gated: Model {
        override func zoomIn() throws { try config.update { if $0.grid { $0.zoom *= 2 } } }
    }
    /// Stores what is already stored, except in worlds without a choice.
    @MainActor final class Unchanged: Model {
        override func zoomIn() throws { config.value.size = .large }
    }
    /// Reports a failure a moment later.
    @MainActor final class ReportingLate: Model {
        override func zoomIn() throws {
            do { try config.update { $0.zoom *= 2 } } catch {
                Task { message = "The zoom could not be saved." }
            }
        }
    }
    static let right: [@MainActor @Sendable (AnyStore<Camera>) -> Model] = [
        { Model($0) }, { Observing($0) }, { Mapping($0) }, { Gated($0) }, { Unchanged($0) }, { ReportingLate($0) },
    ]

    @Test(arguments: StoreWorld<Camera>.all) @MainActor
    func rightModelsPass(world: StoreWorld<Camera>) async {
        for make in Self.right { #expect(await check(world) { make($0) } == []) }
    }

    // --- Models that do wrong ---

    /// Writes back what it has read when it was made.
    @MainActor final class StaleSnapshot: Model {
        var snapshot: Camera
        override init(_ config: AnyStore<Camera>) {
            snapshot = config.value
            super.init(config)
        }
        override func zoomIn() throws {
            snapshot.zoom *= 2
            try config.save(snapshot)
        }
    }
    @MainActor final class SwallowedError: Model {
        override func zoomIn() { try? config.update { $0.zoom *= 2 } }
    }
    @MainActor final class CachedCopy: Model {
        var cached: Double
        override init(_ config: AnyStore<Camera>) {
            cached = config.value.zoom
            super.init(config)
        }
        override var zoom: Double { cached }
        override func zoomIn() throws {
            try config.update { $0.zoom *= 2 }
            cached = config.value.zoom
        }
    }
    @MainActor final class WholeWrite: Model {
        override func zoomIn() throws {
            try config.updateStored { stored in
                var all = stored ?? Camera()
                all.zoom *= 2
                stored = all
            }
            try config.save(config.value)
        }
    }
    /// Removes what it cannot read.
    @MainActor final class Removing: Model {
        override func zoomIn() throws {
            if config.get() == nil { config.remove() }
            try super.zoomIn()
        }
    }
    /// Starts over before each write, and loses what newer releases have stored.
    @MainActor final class StartingOver: Model {
        override func zoomIn() throws {
            let all = config.value
            config.remove()
            try config.update {
                $0 = all
                $0.zoom *= 2
            }
        }
    }
    /// Shows the new zoom even if it was not stored.
    @MainActor final class Optimistic: Model {
        var shown: Double?
        override var zoom: Double { shown ?? config.value.zoom }
        override func zoomIn() {
            shown = config.value.zoom * 2
            do { try config.update { $0.zoom *= 2 } } catch {
                message = "The zoom could not be saved."
                return
            }
            shown = nil
        }
    }
    /// Throws after the first of two writes.
    @MainActor final class HalfDone: Model {
        struct TooLarge: Error {}
        override func zoomIn() throws {
            try config.update { $0.zoom *= 2 }
            try config.update { if $0.zoom > 1 { throw TooLarge() } }
        }
    }
    /// Stores the defaults when it is made.
    @MainActor final class StoringDefaults: Model {
        override init(_ config: AnyStore<Camera>) {
            super.init(config)
            if config.get() == nil { config.set(Camera()) }
        }
    }
    /// Does nothing as long as nothing is stored.
    @MainActor final class NeedingValue: Model {
        override func zoomIn() throws {
            guard config.get() != nil else { return }
            try super.zoomIn()
        }
    }
    /// Loads once, and keeps the defaults if the place was unavailable then.
    @MainActor final class LoadingOnce: Model {
        var isUsable: Bool
        override init(_ config: AnyStore<Camera>) {
            isUsable = (try? config.load()) != nil || config.get() != nil
            super.init(config)
        }
        override var zoom: Double { isUsable ? super.zoom : 1 }
    }
    struct Wrong: Sendable, CustomTestStringConvertible {
        let testDescription, world, text: String
        let make: @MainActor @Sendable (AnyStore<Camera>) -> Model

        init(
            _ description: String, in world: String, _ text: String,
            _ make: @escaping @MainActor @Sendable (AnyStore<Camera>) -> Model
        ) {
            (testDescription, self.world, self.text, self.make) = (description, world, text, make)
        }
    }
    static let wrong = [
        Wrong("a stale snapshot", in: "another process writes", "the action overwrites") { StaleSnapshot($0) },
        Wrong("a swallowed error", in: "a full disk", "a write failed, and the model neither threw nor reported it") {
            SwallowedError($0)
        },
        Wrong("a cached copy", in: "a file", "the model does not follow a change") { CachedCopy($0) },
        Wrong("a whole write", in: "nothing stored", "the action stores grid, lens, size, which it did not change") {
            WholeWrite($0)
        },
        Wrong("a removal", in: "unreadable", "the action loses what it cannot read") { Removing($0) },
        Wrong("starting over", in: "a newer release", "the action loses aPropertyOfANewerRelease") {
            StartingOver($0)
        },
        Wrong("an optimistic model", in: "a full disk", "the model does not show what is stored") { Optimistic($0) },
        Wrong("a half-done action", in: "in memory", "the action threw, and has changed values") { HalfDone($0) },
        Wrong("stored defaults", in: "nothing stored", "creating the model stored something") { StoringDefaults($0) },
        Wrong("a needed value", in: "nothing stored", "the action changes nothing, but zoom in a suite in memory") {
            NeedingValue($0)
        },
        Wrong("a single load", in: "unavailable at first", "the model does not show what is stored") {
            LoadingOnce($0)
        },
    ]

    @Test(arguments: wrong) @MainActor func wrongModelsAreFound(model: Wrong) async throws {
        let world = try #require(StoreWorld<Camera>.all.first { $0.description == model.world })
        let texts = await check(world) { model.make($0) }
        #expect(texts.count == 1)
        #expect(texts.first?.hasPrefix("In the world “\(model.world)”, \(model.text)") == true, "\(texts)")
    }

    @Test func eachWorldHasAName() {
        #expect(StoreWorld<Camera>.all.count == 10)
        #expect(Set(StoreWorld<Camera>.all.map(\.description)).count == 10)
    }

    /// An identifier that differs in each process is stored with the first change.
    @Test @MainActor func aRandomDefaultIsNoMistake() async {
        struct Installation: DefaultConfig {
            static let key = "Installation"
            var id = UUID()
            var count = 1
        }
        for world in StoreWorld<Installation>.all {
            let texts = await issues {
                await world.check {
                    $0
                } act: {
                    try $0.update { $0.count += 1 }
                } shows: {
                    $0.value.count == $1.count
                }
            }
            #expect(texts == [])
        }
    }

    /// The closure that compares may call an actor.
    @Test func anActorIsAModel() async {
        actor Counter {
            let config: AnyStore<Camera>
            init(_ config: AnyStore<Camera>) { self.config = config }
            var zoom: Double { config.value.zoom }
            func zoomIn() throws { try config.update { $0.zoom *= 2 } }
        }
        for world in StoreWorld<Camera>.all {
            await world.check {
                Counter($0)
            } act: {
                try await $0.zoomIn()
            } shows: {
                await $0.zoom == $1.zoom
            }
        }
    }

    @Test func thereAreNoWorldsOfReleasesWithoutRecords() throws {
        #expect(try StoreWorld<Camera>.releases(named: "none").isEmpty)
    }

    #if os(macOS) || os(Linux)
        @Test(.disabled(if: !ProcessInfo.processInfo.environment["CI", default: ""].isEmpty)) @MainActor
        func aRecordedReleaseIsAWorld() async throws {
            let name = UUID().uuidString
            let folder = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "Fixtures/Releases/\(name)")
            defer { try? FileManager.default.removeItem(at: folder) }
            _ = await issues { expectRelease("1.4", of: Camera.self, named: name, record: true) }
            let worlds = try StoreWorld<Camera>.releases(named: name)
            #expect(worlds.map(\.description) == ["release 1.4"])
            for world in worlds {
                #expect(await check(world) { Model($0) } == [])
                #expect(await check(world) { CachedCopy($0) } != [])
            }
        }
    #endif

    @Test @MainActor func aModelThatHidesARefusalIsFound() async throws {
        let world = try #require(StoreWorld<Camera>.all.first { $0.description == "unavailable at first" })
        let texts = await CollectedIssues.awaiting {
            await world.check {
                $0
            } act: { store in
                try? store.update { $0.zoom *= 2 }
            } shows: {
                $0.value.zoom == $1.zoom
            }
        }
        #expect(texts.count == 1)
    }
}
