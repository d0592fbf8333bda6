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

    @Test(arguments: Set(BackendLaw.watching + BackendLaw.lagging)) func lawsOfFiles(law: BackendLaw) async throws {
        let file = try makeFile()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
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

    @Test(arguments: Backend.allCases)
    func emptyValuesAreStoredValues(backend: Backend) throws {
        try backend.withSuite { suite in
            let empties: [PropertyList] = ["", [], [:], .data(Data())]
            for empty in empties {
                suite[key("k")] = empty
                #expect(suite[key("k")] == empty)
            }
            let strings = DefaultKey("k", default: ["default"])
            suite[strings] = []
            #expect(suite[strings] == [])
        }
    }

    @Test(arguments: Backend.allCases)
    func largeValuesAreStored(backend: Backend) throws {
        try backend.withSuite { suite in
            let text = DefaultKey("text", default: "")
            suite[text] = String(repeating: "é", count: 100_000)
            #expect(suite[text].utf8.count == 200_000)
            let numbers = DefaultKey("numbers", default: [Int]())
            suite[numbers] = Array(0..<10_000)
            #expect(suite[numbers] == Array(0..<10_000))
        }
    }

    // Law 3

    @Test(arguments: Backend.allCases)
    func removingSeveralKeysKeepsTheOthers(backend: Backend) throws {
        try backend.withSuite { suite in
            for name in ["a", "b", "c"] { suite[key(name)] = true }
            suite.remove(["a", "b", "missing"])
            let left = try suite.keys()
            #expect(left == ["c"])
            suite.removeAll()
            let none = try suite.keys()
            #expect(none == [])
        }
    }

    @Test(arguments: Backend.allCases)
    func suitesOfOneBackendAgreeImmediately(backend: Backend) throws {
        try backend.withSuite { suite in
            let copy = suite
            let first = PersistentStore<CameraConfig>(in: suite)
            let second = PersistentStore<CameraConfig>(in: copy)
            #expect(second.get() == nil)
            first.set(CameraConfig(size: .small))
            #expect(second.get()?.size == .small)
        }
    }
}
