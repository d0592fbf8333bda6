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

/// Tests of other settings libraries, as tests of this one. `Tests/README.md` has a table of them.
struct FieldBehaviorsTests {
    // Stored nil, empty and nested optional values

    @Test(arguments: Backend.allCases) func storingNilRestoresTheDefault(backend: Backend) throws {
        try backend.withSuite { suite in
            #expect(suite[.nickname] == "kai")
            suite[.nickname] = "k"
            suite[.nickname] = nil
            #expect(suite[.nickname] == "kai")
            #expect(!suite.contains(.nickname))
        }
    }

    @Test(arguments: Backend.allCases) func emptyValuesAreNotMissing(backend: Backend) throws {
        try backend.withSuite { suite in
            suite[.nickname] = ""
            #expect(suite[.nickname] == "")
            let list = DefaultKey("list", default: [1])
            suite[list] = []
            #expect(suite[list] == [])
            #expect(suite.contains(.nickname) && suite.contains(list))
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

    // Defaults

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

    // Reset of one, several and all

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
            suite.removeAll()
            #expect((suite[.count], suite[.volume], suite[.name]) == (0, 3, "guest"))
            suite.removeAll()
        }
    }

    // Suites

    @Test(arguments: Backend.allCases) func suitesDoNotInterfere(backend: Backend) throws {
        try backend.withSuite { one in
            try backend.withSuite { other in
                let heard = Guarded(0)
                let token = other.observe(.volume) { _ in heard.withLock { $0 += 1 } }
                one[.volume] = 7
                #expect(other[.volume] == 3)
                other[.volume] = 8
                one.removeAll()
                #expect((one[.volume], other[.volume]) == (3, 8))
                heard.wait { $0 == 1 }
                #expect(heard.withLock { $0 } == 1)
                token.cancel()
            }
        }
    }

    // Observers

    @Test(arguments: Backend.allCases) func anObserverMayReadAndCancelItself(backend: Backend) throws {
        try backend.withSuite { suite in
            let heard = Guarded<[Int]>([])
            let token = Guarded<ObservationToken?>(nil)
            let observation = suite.observe(.volume) { change in
                #expect(suite[.volume] == 7)
                token.withLock { $0 }?.cancel()
                heard.withLock { $0.append(change.newValue ?? 0) }
            }
            token.withLock { $0 = observation }
            suite[.volume] = 7
            heard.wait { !$0.isEmpty }
            suite[.volume] = 8
            suite[.volume] = 9
            #expect(heard.withLock { $0 } == [7])
        }
    }

    @Test(arguments: Backend.allCases) func anObserverOfAReleasedOwnerIsNotCalled(backend: Backend) throws {
        final class Owner {
            private let token: ObservationToken
            init(_ suite: DefaultsSuite, _ heard: Guarded<Int>) {
                token = suite.observe(.volume) { _ in heard.withLock { $0 += 1 } }
            }
        }
        try backend.withSuite { suite in
            let heard = Guarded(0)
            var owner: Owner? = Owner(suite, heard)
            suite[.volume] = 7
            heard.wait { $0 == 1 }
            withExtendedLifetime(owner) {}
            owner = nil
            suite[.volume] = 8
            #expect(heard.withLock { $0 } == 1)
        }
    }

    // Coercions

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

    // Sizes

    @Test(arguments: Backend.allCases) func largeValuesAreStored(backend: Backend) throws {
        try backend.withSuite { suite in
            let numbers = DefaultKey("numbers", default: [Int]())
            suite[.name] = String(repeating: "é", count: 100_000)
            suite[numbers] = Array(0..<10_000)
            #expect(suite[.name] == String(repeating: "é", count: 100_000))
            #expect(suite[numbers] == Array(0..<10_000))
        }
    }

    // Concurrency

    @Test(arguments: Backend.allCases) func incrementsOfManyTasksAreAllCounted(backend: Backend) async throws {
        let suite = try backend.makeSuite()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    // On a busy machine, a writer may wait too long; its body has not run then.
                    while true {
                        do {
                            return try suite.update(.count) { $0 += 1 }
                        } catch let error as DefaultsError where error.kind == .timedOut {
                            continue
                        } catch {
                            Issue.record(error)
                            return
                        }
                    }
                }
            }
        }
        #expect(suite[.count] == 200)
        backend.clear(suite)
    }

    // Events

    @Test(arguments: Backend.allCases) func aBulkChangeIsOneEvent(backend: Backend) throws {
        try backend.withSuite { suite in
            let events = Guarded<[[String]]>([])
            let token = suite.observeAll(prefix: "") { change in events.withLock { $0.append(change.keys.sorted()) } }
            try suite.update { contents in
                contents[.count] = 1
                contents[.volume] = 2
                contents[.name] = "x"
            }
            events.wait { !$0.isEmpty }
            #expect(events.withLock { $0 } == [["count", "name", "volume"]])
            token.cancel()
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

    /// Nothing turns observers off. An observer that writes is called with its own value, and stops
    /// because that is equal to the one that it would write.
    @Test(arguments: Backend.allCases) func anObserverThatWritesHearsItsOwnWrite(backend: Backend) throws {
        try backend.withSuite { suite in
            let received = Guarded<[String?]>([])
            let token = suite.observe(.name) { change in
                received.withLock { $0.append(change.newValue) }
                guard let name = change.newValue, name != name.lowercased() else { return }
                suite[.name] = name.lowercased()
            }
            suite[.name] = "Kai"
            received.wait { $0.count >= 2 }
            #expect(received.withLock { $0 } == ["Kai", "kai"])
            token.cancel()
        }
    }
}

#if os(macOS) || os(Linux)
    /// Files that another program moves, deletes or replaces. Without a write, the watch of an
    /// observer notices that, so each test waits for it.
    struct FieldFileBehaviorsTests {
        private func withObservedFile(
            _ body: (DefaultsSuite, _ path: String, _ heard: Guarded<[Int?]>) throws -> Void
        ) throws {
            let file = try makeFile()
            defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
            let suite = try DefaultsSuite(file: file)
            suite[.volume] = 7
            let heard = Guarded<[Int?]>([])
            let token = suite.observe(.volume) { change in heard.withLock { $0.append(change.newValue) } }
            try body(suite, file.path, heard)
            token.cancel()
        }

        private func run(_ command: String) throws {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", command]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
        }

        @Test func aDeletedFileReadsAsTheDefault() throws {
            try withObservedFile { suite, path, heard in
                try run("rm '\(path)'")
                heard.wait { $0.count == 1 }
                #expect(suite[.volume] == 3)
                suite[.volume] = 8
                heard.wait { $0.count == 2 }
                #expect(heard.withLock { $0 } == [3, 8])
                #expect(FileManager.default.fileExists(atPath: path))
            }
        }

        @Test func aMovedFileReadsAsTheDefaultUntilItIsBack() throws {
            try withObservedFile { suite, path, heard in
                try run("mv '\(path)' '\(path).moved'")
                heard.wait { $0.count == 1 }
                #expect(suite[.volume] == 3)
                try run("mv '\(path).moved' '\(path)'")
                heard.wait { $0.count == 2 }
                #expect(suite[.volume] == 7)
                #expect(heard.withLock { $0 } == [3, 7])
            }
        }

        @Test func aWriteAfterTheFileWasMovedCreatesANewOne() throws {
            try withObservedFile { suite, path, heard in
                try suite.synchronize()
                try run("mv '\(path)' '\(path).moved'")
                suite[.volume] = 8
                try suite.synchronize()
                heard.wait { $0.last == 8 }
                let (old, new) = try (
                    DefaultsSuite(file: URL(filePath: path + ".moved")), DefaultsSuite(file: URL(filePath: path))
                )
                #expect(old[.volume] == 7)
                #expect(new[.volume] == 8)
            }
        }

        @Test func aFileThatReplacesItIsRead() throws {
            try withObservedFile { suite, path, heard in
                let other = try DefaultsSuite(file: URL(filePath: path + ".new"))
                other[.volume] = 9
                try other.synchronize()
                try run("mv '\(path).new' '\(path)'")
                heard.wait { $0.count == 1 }
                #expect(suite[.volume] == 9)
                #expect(heard.withLock { $0 } == [9])
            }
        }
    }
#endif

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
            let code = try ["SettingsFileTests", "ValuesTests", "SuitesTests", "LibraryTests"]
                .map { try text(in: Self.tests.appending(path: $0), "swift") }.joined()
            let declared = Set(code.matches(of: /(?:func|struct|enum) (\w+)/).map(\.1))
            let pages = try ["README.md", "Torture/README.md"]
                .map { try String(contentsOf: Self.tests.appending(path: $0), encoding: .utf8) }
            let articles =
                try text(in: Self.tests.appending(path: "../Sources/TypedDefaults"), "md") + pages.joined()
            let filters = articles.matches(of: /--filter '?([\w|]+)/).flatMap { $0.1.split(separator: "|") }
            // The last cell of a row, a suite, or a test with its suite.
            let names = articles.matches(of: /\| `(\w+)` \|\n|`(\w+Tests)`/).compactMap { $0.1 ?? $0.2 }
            let tests = articles.matches(of: /`(\w+Tests)\.(\w+)`/).flatMap { [$0.1, $0.2] }
            let torture = Self.tests.appending(path: "Torture").path
            let scripts = try FileManager.default.contentsOfDirectory(atPath: torture)
            #expect(filters.count >= 10 && names.count >= 20 && tests.count >= 60)
            #expect(filters.filter { filter in !declared.contains { $0.contains(filter) } } == [])
            #expect((names + tests).filter { !declared.contains($0) && !scripts.contains(String($0)) } == [])
        }
    }
#endif
