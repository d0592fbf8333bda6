import Foundation
import TestSupport
import Testing
import TypedDefaults

extension DefaultKey<Int> {
    fileprivate static let count = DefaultKey("count", default: 0)
    fileprivate static let volume = DefaultKey("volume", default: 3)
}
extension DefaultKey<String> {
    fileprivate static let name = DefaultKey("name", default: "guest")
}
extension DefaultKey<String?> {
    fileprivate static let nickname = DefaultKey("nickname", default: "kai")
}
extension DefaultKey<Int??> {
    fileprivate static let answer = DefaultKey("answer")
}

/// Tests of other settings libraries, as tests of this one. `Tests/README.md` names what differs.
struct FieldBehaviorsTests {
    @Test(arguments: Backend.allCases) func storingNilRestoresTheDefault(backend: Backend) throws {
        try backend.withSuite { suite in
            #expect(suite[.nickname] == "kai")
            suite[.nickname] = "k"
            suite[.nickname] = nil
            #expect(suite[.nickname] == "kai")
            #expect(!suite.contains(.nickname))
        }
    }

    @Test(arguments: Backend.allCases) func nestedOptionalsStayApart(backend: Backend) throws {
        try backend.withSuite { suite in
            #expect(suite[.answer] == .none)
            suite[.answer] = .some(.none)
            #expect(suite[.answer] == .some(.none))
            suite[.answer] = 42
            #expect(suite[.answer] == 42)
            let list = DefaultKey("list", default: [Int?]())
            suite[list] = [1, nil, 3]
            #expect(suite[list] == [1, nil, 3])
        }
    }

    @Test(arguments: Backend.allCases) func aDefaultIsNeverWritten(backend: Backend) throws {
        try backend.withSuite { suite in
            let store = PersistentStore<CameraConfig>(in: suite)
            let wrapper = UserDefault(.volume, in: suite)
            let token = wrapper.observe(initial: true) { _ in }
            #expect(wrapper.value == 3)
            #expect(suite[.name] == "guest")
            #expect(store.get() == nil)
            wrapper.reset()
            token.cancel()
            let keys = try suite.keys()
            #expect(keys == [])
            // The default of the next version is used.
            #expect(suite[DefaultKey("volume", default: 4)] == 4)
        }
    }

    @Test(arguments: Backend.allCases) func oneSeveralOrAllSettingsAreReset(backend: Backend) throws {
        try backend.withSuite { suite in
            func change() { (suite[.count], suite[.volume], suite[.name]) = (1, 2, "x") }
            change()
            suite.remove(.count)
            #expect((suite[.count], suite[.volume], suite[.name]) == (0, 2, "x"))
            change()
            suite.remove(.count, .name)
            #expect((suite[.count], suite[.volume], suite[.name]) == (0, 2, "guest"))
            change()
            try suite.removeAll()
            #expect((suite[.count], suite[.volume], suite[.name]) == (0, 3, "guest"))
        }
    }

    @Test(arguments: Backend.allCases) func suitesDoNotInterfere(backend: Backend) throws {
        try backend.withSuite { one in
            try backend.withSuite { other in
                let heard = Guarded(0)
                let token = other.observe(.volume) { _ in heard.withLock { $0 += 1 } }
                one[.volume] = 7
                #expect(other[.volume] == 3)
                other[.volume] = 8
                try one.removeAll()
                #expect((one[.volume], other[.volume]) == (3, 8))
                heard.wait { $0 == 1 }
                #expect(heard.withLock { $0 } == 1)
                token.cancel()
            }
        }
    }

    /// `UserDefaults` reads a stored “7” as an integer; a typed setting does not guess.
    @Test(arguments: Backend.allCases) func aStoredStringIsNoNumber(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let failures = Failures(of: suite)
            suite[DefaultKey("volume", default: "")] = "7"
            #expect(suite[.volume] == 3)
            #expect(failures.kinds.contains(.unreadable))
            suite[.volume] = 8
            #expect(try suite.contents()["volume.unreadable"] == "7")
        }
    }

    @Test(arguments: Backend.allCases) func twoObserversOfOneKeyReceiveEachChangeOnce(backend: Backend) throws {
        try backend.withSuite { suite in
            let received = Guarded<[[Int?]]>([[], []])
            let tokens = (0...1).map { index in
                suite.observe(.count) { change in received.withLock { $0[index].append(change.newValue) } }
            }
            suite[.count] = 1
            suite[.count] = 2
            received.wait { $0.allSatisfy { $0.count >= 2 } }
            #expect(received.withLock { $0 } == [[1, 2], [1, 2]])
            for token in tokens { token.cancel() }
        }
    }
}

#if os(Linux)
    /// The tests that the articles and the pages of the tests name.
    struct NamedTestsTests {
        private static let tests = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

        private func text(in folder: URL, _ suffix: String) throws -> String {
            let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == suffix }
                .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        }

        @Test func articlesNameTestsThatExist() throws {
            let code = try ["SettingsFileTests", "ValuesTests", "SuitesTests", "LibraryTests", "RecipesTests"]
                .map { try text(in: Self.tests.appending(path: $0), "swift") }.joined()
            let declared = Set(code.matches(of: /(?:func|struct|enum) (\w+)/).map(\.1))
            let pages = try ["README.md", "Torture/README.md"]
                .map { try String(contentsOf: Self.tests.appending(path: $0), encoding: .utf8) }
            let articles =
                try text(in: Self.tests.appending(path: "../Sources/TypedDefaults"), "md") + pages.joined()
            let filters = articles.matches(of: /--filter '?([\w|]+)/).flatMap { $0.1.split(separator: "|") }
            // A suite, or a test with its suite.
            let names = articles.matches(of: /`(\w+Tests)`/).map(\.1)
            let tests = articles.matches(of: /`(\w+Tests)\.(\w+)`/).flatMap { [$0.1, $0.2] }
            #expect(filters.count >= 10 && names.count >= 3 && tests.count >= 60)
            #expect(filters.filter { filter in !declared.contains { $0.contains(filter) } } == [])
            #expect((names + tests).filter { !declared.contains($0) } == [])
        }
    }
#endif
