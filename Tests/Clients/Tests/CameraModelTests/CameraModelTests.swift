import Foundation
import Observation
import Synchronization
import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import CameraModel

@MainActor struct CameraModelTests {
    @Test func derivedValuesFollowTheStore() throws {
        let model = CameraModel(config: .inMemory())
        #expect(model.title == "medium camera")
        #expect(model.megapixels == 12)
        #expect(!model.hasChanges)
        try model.choose(.large)
        try model.setOwner("Ada")
        #expect(model.title == "Ada's large camera")
        #expect(abs(model.megabytes - 20.16) < 1e-9)
        #expect(model.hasChanges)
        #expect(model.savesToCameraRoll)
    }

    @Test func resetRestoresTheDefaultsAndStoresNothing() throws {
        let model = CameraModel(config: .inMemory())
        try model.choose(.small)
        try model.takePicture()
        model.reset()
        #expect(model.config.value == CameraConfig())
        #expect(model.config.get() == nil)
    }

    @Test func theModelObservesEachSizeOnceAndInOrder() async throws {
        let config = AnyStore<CameraConfig>.inMemory()
        let model = CameraModel(config: config)
        try model.choose(.large)
        try model.takePicture()
        try model.choose(.large)
        try config.update { $0.size = .small }
        model.reset()
        try await until { model.chosenSizes.count >= 3 }
        #expect(model.chosenSizes == [.large, .small, .medium])
    }

    @Test func aModelThatIsReleasedStopsObserving() throws {
        let config = AnyStore<CameraConfig>.inMemory()
        weak var released: CameraModel?
        do {
            let model = CameraModel(config: config)
            released = model
            try model.choose(.large)
        }
        #expect(released == nil)
        try config.update { $0.size = .small }
    }

    @Test func observationTracksADerivedValue() async throws {
        let model = CameraModel(config: .inMemory())
        let changes = Atomic(0)
        withObservationTracking {
            _ = model.title
        } onChange: {
            changes.add(1, ordering: .relaxed)
        }
        #expect(changes.load(ordering: .relaxed) == 0)
        try model.setOwner("Ada")
        try await until { changes.load(ordering: .relaxed) > 0 }
        #expect(changes.load(ordering: .relaxed) == 1)
    }

    @Test func twoModelsOfOneSuiteShareTheirConfig() throws {
        let suite = DefaultsSuite.inMemory()
        let first = CameraModel(config: .persistent(in: suite))
        let second = CameraModel(config: .persistent(in: suite))
        try first.choose(.large)
        #expect(second.megapixels == 48)
        second.reset()
        #expect(first.megapixels == 12)
        #expect(try suite.keys().isEmpty)
    }

    @Test(.isolatedDefaults) func withStandardReplacesTheSuiteOfTheDefaultArgument() throws {
        let suite = DefaultsSuite.inMemory(["CameraConfig": ["size": "large"]])
        let before = try DefaultsSuite.standard.contents()
        try DefaultsSuite.withStandard(suite) {
            let model = CameraModel()
            #expect(model.megapixels == 48)
            try model.takePicture()
        }
        #expect(PersistentStore<CameraConfig>(in: suite).value.shots == 1)
        #expect(try DefaultsSuite.standard.contents() == before)
    }

    @Test(arguments: 1...8) func testsThatRunAtTheSameTimeDoNotMeet(count: Int) async throws {
        try await DefaultsSuite.withStandard(.inMemory()) {
            let model = CameraModel()
            for _ in 0..<count {
                try model.takePicture()
                await Task.yield()
            }
            #expect(model.config.value.shots == count)
            let inChild = await Task { PersistentStore<CameraConfig>().value.shots }.value
            #expect(inChild == count)
        }
    }
}

/// Waits until `condition` holds, at most ten seconds.
@MainActor func until(_ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(10)
    while !condition(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
}
