import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

/// Every backend of the library, checked by the laws that users have for theirs, and through a
/// suite.
struct BackendLawsTests {
    @Test(arguments: BackendLaw.all) func lawsOfMemory(law: BackendLaw) async throws {
        try await law.verify { MemoryBackend() }
    }

    @Test(.ownFile, arguments: Set(BackendLaw.watching + BackendLaw.lagging)) func lawsOfFiles(law: BackendLaw)
        async throws
    {
        let file = URL(filePath: ownFile)
        let make = { @Sendable in FileBackend(path: file.path, timeout: .seconds(2)) }
        try await law.verify {
            make()
        } reopening: { _ in
            make()
        }
    }

    #if canImport(Darwin) || canImport(AppleFoundation)
        @Test(arguments: BackendLaw.all) func lawsOfUserDefaults(law: BackendLaw) async throws {
            let name = makeSuiteName()
            let backend = UserDefaultsBackend(UserDefaults(suiteName: name)!, suiteName: name)
            defer { Backend.userDefaults.clear(DefaultsSuite(backend: backend)) }
            try await law.verify { backend }
        }
    #endif

    static let keys = [
        "plain", "with.dots", "a@b", "with space", "emoji 🎛", "nul \u{0} inside", "\u{E9}", "e\u{301}", "",
        "new\nline", "quote\"<&>", String(repeating: "k", count: 3_000),
    ]

    private func key(_ name: String) -> DefaultKey<PropertyList?> { DefaultKey(name) }

    @Test(arguments: Backend.allCases)
    func keysAreComparedByTheirBytes(backend: Backend) throws {
        try backend.withSuite { suite in
            let failures = Failures(of: suite)
            let accepted = Self.keys.filter { backend.accepts(true, key: $0) }
            for (index, name) in Self.keys.enumerated() { suite[key(name)] = .integer(.init(index)) }
            for (index, name) in Self.keys.enumerated() {
                let expected: PropertyList? =
                    accepted.contains { $0.utf8.elementsEqual(name.utf8) } ? .integer(.init(index)) : nil
                #expect(suite[key(name)] == expected)
            }
            let stored = try suite.keys()
            #expect(Set(stored.map { Array($0.utf8) }) == Set(accepted.map { Array($0.utf8) }))
            #expect(failures.kinds == Array(repeating: .refused, count: Self.keys.count - accepted.count))
        }
    }
}
