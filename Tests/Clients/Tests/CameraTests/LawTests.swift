import Foundation
import Testing
import TypedDefaults
import TypedDefaultsTesting
import XCTest

#if MainActorClient
    import MainActorCamera
#else
    import Camera
#endif

@Suite struct LawTests {
    @Test(arguments: StoreLaw.basic + StoreLaw.observing)
    func theRecordingStoreKeepsTheLawsOfAStoreThatObserves(_ law: StoreLaw) async throws {
        try await law.verify { RecordingStore(InMemoryStore<LawSample>()) }
    }

    @Test(arguments: BackendLaw.all) func theFileKeepsTheLaws(_ law: BackendLaw) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await law.verify { JSONFileBackend(folder.appending(path: "settings.json")) }
        try FileManager.default.removeItem(at: folder)
    }

    @Test func theFileKeepsTheRecordOfMigrations() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        var migrator = DefaultsMigrator()
        migrator.register("1.1: twice as loud") { contents in
            if case .integer(let volume)? = contents["volume"] { contents["volume"] = .integer(2 * volume) }
        }
        let suite = DefaultsSuite(backend: JSONFileBackend(file))
        try suite.update { $0["volume"] = 4 }
        try suite.migrate(migrator)
        let other = DefaultsSuite(backend: JSONFileBackend(file))
        #expect(try other.migrate(migrator) == [])
        #expect(try other.contents()["volume"] == 8)
    }
}
