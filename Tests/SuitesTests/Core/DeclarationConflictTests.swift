import Foundation
import TestSupport
import Testing
import TypedDefaults

struct DeclarationConflictTests {
    private func failures(_ use: (DefaultsSuite) -> Void) -> [DefaultsError] {
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        use(suite)
        return failures.all
    }

    @Test func twoTypesUnderOneNameAreReportedOnce() {
        let all = failures { suite in
            for _ in 0..<3 {
                _ = UserDefault("name", default: 1, in: suite)
                _ = suite[DefaultKey("name", default: "S3CR3T")]
            }
        }
        #expect(all.map(\.kind) == [.conflict])
        #expect(all.first?.key == "name")
        #expect(all.first?.description.contains("another declaration of this key has the type Int") == true)
        #expect(all.first?.description.contains("S3CR3T") == false)
    }

    private static var computed: DefaultKey<UUID> { DefaultKey("id", default: UUID()) }

    @Test func aComputedDefaultIsNotAConflict() {
        let all = failures { suite in
            for _ in 0..<3 { _ = suite[Self.computed] }
            let settings = (0..<3).map { _ in UserDefault(Self.computed, in: suite) }
            #expect(Set(settings.map(\.value)).count == 3)
            _ = UserDefault(Self.computed, in: suite).store
        }
        #expect(all == [])
    }

    @Test func twoTypesInAnUpdateAreReported() {
        let all = failures { suite in
            try? suite.update { contents in
                _ = contents[DefaultKey("name", default: 1)]
                _ = contents[DefaultKey("name", default: "")]
            }
        }
        #expect(all.map(\.kind) == [.conflict])
    }

    @Test func equalDeclarationsDoNotConflict() {
        let all = failures { suite in
            for _ in 0..<2 {
                _ = UserDefault("set", default: Set((0..<20).map(String.init).shuffled()), in: suite)
                _ = suite[DefaultKey("set", default: Set((0..<20).map(String.init).shuffled()))]
                _ = PersistentStore<CameraConfig>(in: suite)
                _ = UserDefault("CameraConfig", default: CameraConfig(), in: suite)
            }
            // Reads another key explicitly, as a migration does.
            _ = PersistentStore<CameraConfig>(in: suite, key: "set").get()
            _ = suite[DefaultKey<PropertyList?>("set")]
        }
        #expect(all == [])
    }
}
