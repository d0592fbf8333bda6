import Foundation
import Observation
import Synchronization
import Testing
import TypedDefaults

@testable import CameraModel

@MainActor struct EncryptionTests {
    let suite = DefaultsSuite.inMemory()

    nonisolated func store(key: UInt64 = 7) -> AnyStore<CameraConfig> {
        AnyStore(EncryptedStore(base: .persistent(in: suite), cipher: ToyCipher(key: key)))
    }

    @Test func anEncryptedConfigReadsBackAndShowsNoText() throws {
        let model = CameraModel(config: store())
        try model.setOwner("Ada Lovelace")
        try model.choose(.large)
        #expect(CameraModel(config: store()).title == "Ada Lovelace's large camera")
        let json = try String(decoding: suite.contents().json(), as: UTF8.self)
        #expect(json.contains("$data"))
        #expect(!json.contains("Ada") && !json.contains("large"))
        #expect(!json.contains(Data("Ada Lovelace".utf8).base64EncodedString().prefix(12)))
        model.reset()
        #expect(try suite.keys().isEmpty)
    }

    @Test func theWrongKeyReadsTheDefaultAndOverwritesNothing() throws {
        try CameraModel(config: store()).setOwner("Ada")
        let before = try suite.contents()
        let other = CameraModel(config: store(key: 8))
        #expect(other.title == "medium camera")
        #expect(throws: (any Error).self) { try other.config.load() }
        #expect(throws: (any Error).self) { try other.takePicture() }
        #expect(try suite.contents() == before)
    }

    @Test func observersHearOneChangeOfOneProperty() async throws {
        let model = CameraModel(config: store())
        try model.setOwner("Ada")
        try model.choose(.large)
        try CameraModel(config: store()).choose(.small)
        try await until { model.chosenSizes.count >= 2 }
        #expect(model.chosenSizes == [.large, .small])
    }

    @Test func observationTracksThroughTheDecorator() async throws {
        let model = CameraModel(config: store())
        let changes = Atomic(0)
        withObservationTracking {
            _ = model.title
        } onChange: {
            changes.add(1, ordering: .relaxed)
        }
        try CameraModel(config: store()).setOwner("Ada")
        try await until { changes.load(ordering: .relaxed) > 0 }
        #expect(changes.load(ordering: .relaxed) == 1)
    }

    @Test func updatesOfEightThreadsAreExact() throws {
        // A box of its own for each thread, because a box may run its updates one at a time.
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let config = store()
            for _ in 0..<100 { #expect(throws: Never.self) { try config.update { $0.shots += 1 } } }
        }
        #expect(store().value.shots == 800)
    }
}
