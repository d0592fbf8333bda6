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

    @Test func twoTypesFromOneLineAreReported() {
        func read<Value: Codable & Sendable>(_ value: Value, _ suite: DefaultsSuite) {
            _ = suite[DefaultKey("name", default: value)]
        }
        let all = failures { suite in
            for _ in 0..<2 { read(1, suite) }
            read("", suite)
        }
        #expect(all.map(\.kind) == [.conflict])
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

    @Test func twoTypesWithOneKeyAreReported() {
        struct Other: DefaultConvertible, Codable { static let key = CameraConfig.key }
        let all = failures { suite in
            _ = PersistentStore<CameraConfig>(in: suite)
            _ = PersistentStore<Other>(in: suite)
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

    /// The deinit of a replaced object may read the suite, so no lock that a read needs may be
    /// held.
    @Test(.timeLimit(.minutes(5))) func aReplacedHandlerMayReadTheSuiteInItsDeinit() {
        final class Dying: Codable, Sendable {
            let suite: DefaultsSuite?
            init(_ suite: DefaultsSuite) { self.suite = suite }
            init(from decoder: any Decoder) throws { suite = nil }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode("value")
            }
            deinit { if let suite { _ = suite[DefaultKey("other", default: 1)] } }
        }
        let suite = DefaultsSuite.inMemory()
        for _ in 0..<3 { _ = UserDefault("name", default: Dying(suite), in: suite) }
        let held = Guarded<Dying?>(Dying(suite))
        suite.onFailure = { [dying = held.withLock { $0.take() }] _ in withExtendedLifetime(dying) {} }
        suite.onFailure = { _ in }
        #expect(suite[DefaultKey("other", default: 1)] == 1)
    }
}
