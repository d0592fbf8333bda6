import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Keys that were derived with dots, `app.AppConfig.userName`, are read until the first write moves
/// them.
struct FormerKeysTests {
    private let dottedName = DefaultKey("app.AppConfig.userName", default: "")
    private let name = DefaultKey("app/AppConfig/userName", default: "")

    @Test(arguments: Backend.allCases)
    func aValueUnderTheFormerKeyIsReadAndNothingIsWritten(backend: Backend) throws {
        try backend.withSuite { suite throws in
            suite[dottedName] = "kai"
            let config = AppConfig(in: suite, identifier: "app")
            #expect(config.userName == "kai")
            #expect(config.$userName.isSet)
            #expect(try suite.keys() == ["app.AppConfig.userName"])
        }
    }

    @Test(arguments: Backend.allCases)
    func theFirstWriteMovesTheValueInOneChange(backend: Backend) throws {
        try backend.withSuite { suite throws in
            suite[dottedName] = "kai"
            let config = AppConfig(in: suite, identifier: "app")
            let received = Guarded<[[String]]>([])
            let token = suite.observeAll(prefix: "") { change in
                received.withLock { $0.append(change.keys.sorted()) }
            }
            try config.$userName.update { $0 += "!" }
            received.wait { !$0.isEmpty }
            token.cancel()
            #expect(received.withLock { $0 } == [["app.AppConfig.userName", "app/AppConfig/userName"]])
            #expect(config.userName == "kai!")
            #expect(try suite.keys() == ["app/AppConfig/userName"])
        }
    }

    /// Other processes move the value to the new name and back while this one looks for it.
    @Test func aValueThatMovesBetweenTwoReadsIsFound() {
        let backend = SpyBackend(["old": 5])
        let suite = DefaultsSuite(backend: backend)
        let reads = Guarded(0)
        backend.interrupt { [unowned backend] call in
            guard call == .value else { return }
            let count = reads.withLock { reads in
                reads += 1
                return reads
            }
            if count == 1 {
                backend.write(5, forKey: "new")
                backend.write(nil, forKey: "old")
            } else if count == 2 {
                backend.write(5, forKey: "old")
                backend.write(nil, forKey: "new")
            }
        }
        #expect(suite[DefaultKey("new", formerly: "old", default: 0)] == 5)
    }

    @Test func keyVerbsRemoveTheFormerValueToo() throws {
        let suite = DefaultsSuite.inMemory(["old": 5, "other": 6])
        let (key, other) = (
            DefaultKey("new", formerly: "old", default: 0), DefaultKey("another", formerly: "other", default: 0)
        )
        suite.remove(key, other)
        #expect(try suite.keys() == [])
        suite[DefaultKey("old", default: 0)] = 5
        try suite.update { $0.remove(key) }
        #expect(try suite.keys() == [])
        #expect(suite[key] == 0)
    }

    @Test func aFormerNameMayBeAKeyOfItsOwnOnceTheValueWasMoved() throws {
        let suite = DefaultsSuite.inMemory(["new": 2, "old": 1])
        let (key, other) = (DefaultKey("new", formerly: "old", default: 0), DefaultKey("old", default: 0))
        #expect(suite[key] == 2)
        suite[key] = 3
        #expect(suite[other] == 1)
        try suite.update { $0[key] = 4 }
        #expect(suite[key] == 4)
        #expect(suite[other] == 1)
        var contents: SuiteContents = ["new": 2, "old": 1]
        contents[key] = 3
        #expect(contents == ["new": 3, "old": 1])
    }

    @Test func twoKeysWithOneFormerNameAreAConflict() {
        let suite = DefaultsSuite.inMemory(["size": 5])
        let failures = Failures(of: suite)
        let width = DefaultKey("width", formerly: "size", default: 0)
        let height = DefaultKey("height", formerly: "size", default: 0)
        for _ in 0..<3 { #expect(suite[width] == 5 && suite[height] == 5) }
        #expect(failures.kinds == [.conflict])
        #expect(failures.all.first?.key == "height")
        #expect(failures.all.first?.reason.contains("former name of “width”") == true)
    }

    @Test func aWriteOfTheSameValueMovesItToo() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": "kai"])
        let config = AppConfig(in: suite, identifier: "app")
        let received = Guarded(0)
        let token = config.$userName.observe { _ in received.withLock { $0 += 1 } }
        config.userName = "kai"
        token.cancel()
        #expect(received.withLock { $0 } == 0, "the value is the same")
        #expect(try suite.keys() == ["app/AppConfig/userName"])
    }

    @Test(arguments: Backend.allCases)
    func aRemovalLeavesNothingUnderEitherKey(backend: Backend) throws {
        try backend.withSuite { suite throws in
            suite[dottedName] = "former"
            suite[name] = "present"
            let config = AppConfig(in: suite, identifier: "app")
            #expect(config.userName == "present")
            config.$userName.reset()
            #expect(config.userName == "" && !config.$userName.isSet)
            suite[dottedName] = "former"
            #expect(config.userName == "former")
            config.reset()
            #expect(config.userName == "")
            #expect(try suite.keys() == [])
        }
    }

    @Test(arguments: Backend.allCases)
    func observersReceiveWritesToTheFormerKeyWhileItIsRead(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let config = AppConfig(in: suite, identifier: "app")
            let received = Guarded<[String?]>([])
            let token = config.$userName.observe { change in received.withLock { $0.append(change.newValue) } }
            // An older version of the program writes.
            suite[dottedName] = "older"
            received.wait { $0.count == 1 }
            config.userName = "newer"
            received.wait { $0.count == 2 }
            suite[dottedName] = "too late"
            #expect(config.userName == "newer")
            config.$userName.reset()
            received.wait { $0.count == 3 }
            token.cancel()
            #expect(received.withLock { $0 } == ["older", "newer", ""])
        }
    }

    @Test func aMoveByAnotherProcessIsNotAChange() throws {
        let file = try makeFile()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let suite = try DefaultsSuite(file: file)
        suite[dottedName] = "kai"
        let config = AppConfig(in: suite, identifier: "app")
        #expect(config.userName == "kai")
        // A second backend on the file acts like another process.
        let other = DefaultsSuite(backend: FileBackend(path: file.path))
        AppConfig(in: other, identifier: "app").userName = "kai"
        #expect(config.userName == "kai")
        #expect(try suite.keys() == ["app/AppConfig/userName"])
        AppConfig(in: other, identifier: "app").userName = "other"
        #expect(config.userName == "other")
    }

    @Test func anUnreadableValueUnderTheFormerKeyIsSetAside() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": [1, 2]])
        let failures = Failures(of: suite)
        let config = AppConfig(in: suite, identifier: "app")
        #expect(config.userName == "")
        #expect(failures.kinds == [.unreadable])
        config.userName = "kai"
        #expect(try suite.keys() == ["app/AppConfig/userName", "app/AppConfig/userName.unreadable"])
    }

    @Test func aWriteToContentsRemovesTheFormerKeys() throws {
        let suite = DefaultsSuite.inMemory(["older": 5, "other": 1])
        let key = DefaultKey("new", default: 0).formerly(["old", "older"])
        try suite.update { contents in
            contents[key] = 7
            #expect(contents.keys == ["new", "other"])
        }
        #expect(try suite.contents() == ["new": 7, "other": 1])
    }

    @Test func aDeclarationWithoutFormerKeysReadsItsOwnKeyOnly() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": "kai"])
        let config = AppConfig(in: suite, identifier: "app")
        #expect(suite[name] == "")
        #expect(config.userName == "kai")
        #expect(suite[name] == "")
        config.userName = "moved"
        #expect(suite[name] == "moved")
    }

    @Test func differentDottedKeysGiveDifferentKeys() {
        let identifiers = ["a.b", "a/b", "a%2Fb", "a%b", "a%25b", "a..b", "a//b"]
        let keys = identifiers.flatMap { TwitterConfig(in: .inMemory(), identifier: $0).allKeys }
        #expect(Set(keys).count == keys.count)
        #expect(keys.allSatisfy { !$0.contains(".") })
    }

    @Test func suiteObserversReceiveChangesUnderTheFormerKey() {
        let suite = DefaultsSuite.inMemory([
            "app.AppConfig.userName": "kai", "app.AppConfig.nickname": "k", "app.AppConfig.isFirstLaunch": false,
        ])
        let early = Guarded<[[String]]>([])
        let earlyToken = suite.observeAll(prefix: "app/AppConfig/") { change in
            early.withLock { $0.append(change.keys) }
        }
        let config = AppConfig(in: suite, identifier: "app")
        let received = Guarded<[[String]]>([])
        let token = suite.observe { change in received.withLock { $0.append(change.keys) } }
        config.$userName.reset()
        config.nickname = nil
        config.reset()
        let expected = [["app/AppConfig/userName"], ["app/AppConfig/nickname"], ["app/AppConfig/isFirstLaunch"]]
        #expect(received.withLock { $0 } == expected)
        #expect(early.withLock { $0 } == expected, "begun before the class was used")
        // An older version of the program writes, and its value is read.
        UserDefault(DefaultKey<PropertyList?>("app.AppConfig.userName"), in: suite).store.set("older")
        #expect(received.withLock { $0.last }?.contains("app/AppConfig/userName") == true)
        config.userName = "newer"
        let count = received.withLock { $0.count }
        suite[DefaultKey<PropertyList?>("app.AppConfig.userName")] = "too late"
        #expect(early.withLock { $0.count } == count)
        token.cancel()
        earlyToken.cancel()
    }

    @Test func suiteObserversReceiveExternalWritesToTheFormerKey() throws {
        let file = try makeFile()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let suite = try DefaultsSuite(file: file)
        let config = AppConfig(in: suite, identifier: "app")
        let (declared, prefixed) = (Guarded<[[String]]>([]), Guarded<[[String]]>([]))
        let tokens = [
            suite.observe { change in declared.withLock { $0.append(change.keys) } },
            suite.observeAll(prefix: "app/AppConfig/") { change in prefixed.withLock { $0.append(change.keys) } },
        ]
        // A second backend on the file acts like another process.
        let other = DefaultsSuite(backend: FileBackend(path: file.path))
        other[dottedName] = "older"
        declared.wait { !$0.isEmpty }
        prefixed.wait { !$0.isEmpty }
        #expect(declared.withLock { $0 } == [["app/AppConfig/userName"]])
        #expect(prefixed.withLock { $0 } == [["app/AppConfig/userName"]])
        #expect(config.userName == "older")
        for token in tokens { token.cancel() }
    }

    @Test(arguments: Backend.allCases)
    func removingTheKeyRemovesTheFormerValue(backend: Backend) throws {
        try backend.withSuite { suite throws in
            suite[dottedName] = "kai"
            let config = AppConfig(in: suite, identifier: "app")
            suite.remove(["app/AppConfig/userName"])
            #expect(config.userName == "")
            #expect(try suite.keys() == [])
        }
    }

    @Test func anotherDeclarationOfTheKeyRemovesTheFormerValue() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": "kai", "app.AppConfig.nickname": "k"])
        let config = AppConfig(in: suite, identifier: "app")
        let store = UserDefault(name, in: suite).store
        store.set("new")
        store.remove()
        #expect(config.userName == "")
        // Nothing is stored under the key itself.
        suite[DefaultKey<String?>("app/AppConfig/nickname")] = nil
        #expect(config.nickname == nil)
        #expect(try suite.keys() == [])
    }

    final class RenamedConfig: StorableConfig {
        @Stored("app/AppConfig/userName") var name = ""
        @Stored("app/size") var size = 0
        @Stored("other/AppConfig/size") var otherSize = 0
    }

    final class SharingConfig: StorableConfig {
        @Stored var a = 1
        @Stored("app.FormerKeysTests.SharingConfig.a") var b = 2
    }

    @Test func aRenamedPropertyThatIsPinnedReadsItsFormerKey() throws {
        let suite = DefaultsSuite.inMemory(["app.AppConfig.userName": "kai", "app.size": 1, "other.AppConfig.size": 2])
        let config = RenamedConfig(in: suite, identifier: "app")
        #expect(config.name == "kai")
        #expect(config.size == 0 && config.otherSize == 0, "keys of another form")
        config.name = "moved"
        #expect(try suite.keys() == ["app.size", "app/AppConfig/userName", "other.AppConfig.size"])
    }

    @Test func aPinnedKeyIsUnescapedForItsFormerName() {
        final class Config: StorableConfig { @Stored("a%2Fb%252F/c/C/x") var x = "" }
        let suite = DefaultsSuite.inMemory(["a/b%2F.c.C.x": "former"])
        #expect(Config(in: suite, identifier: "a/b%2F.c").x == "former")
    }

    struct RenamedStruct: DefaultConfig, Equatable {
        static let key = "Present"
        static let formerKeys = ["Past", "First"]
        var size = 3
    }

    @Test(arguments: Backend.allCases)
    func aConfigStructIsReadUnderItsFormerKeys(backend: Backend) throws {
        try backend.withSuite { suite in
            let first: PropertyList = ["size": 5]
            try suite.update { $0["First"] = first }
            let store = PersistentStore<RenamedStruct>(in: suite)
            #expect(store.value.size == 5)
            #expect(suite[DefaultKey(RenamedStruct.self)].size == 5)
            #expect(try suite.contents()[RenamedStruct.self].size == 5)
            #expect(try suite.contents() == ["First": first])
            try store.update { $0.size = 6 }
            #expect(try suite.contents() == ["Present": ["size": 6]])
            try suite.update { $0["Past"] = first }
            try suite.update { $0[RenamedStruct.self].size += 1 }
            #expect(try suite.contents() == ["Past": first, "Present": ["size": 7]], "as after an update of the store")
            suite.remove(DefaultKey(RenamedStruct.self))
            #expect(try suite.contents() == [:])
            #expect(PersistentStore<RenamedStruct>(in: suite, key: "Other").get() == nil)
        }
    }

    @Test func wrappersAndStaticSettingsReadTheirFormerKeys() throws {
        let suite = DefaultsSuite.inMemory(["a": 4, "b": "text", "c": 0.5, "old": 1])
        struct Settings {
            @UserDefault var number: Int
            @UserDefault var text: String?
            init(_ suite: DefaultsSuite) {
                _number = UserDefault(wrappedValue: 1, "number", formerly: "n", "a", in: suite)
                _text = UserDefault("text", formerly: "b", in: suite)
            }
        }
        let settings = Settings(suite)
        #expect(settings.number == 4)
        #expect(settings.text == "text")
        let quality = UserDefault("quality", formerly: "c", default: 0.1, in: suite)
        #expect(quality.value == 0.5)
        settings.number += 1
        settings.text = nil
        quality.value = 0.5
        #expect(try suite.contents() == ["number": 5, "quality": 0.5, "old": 1])
    }

    final class PastConfig: StorableConfig {
        @Stored var name = ""
        @Stored var size = 0
        @Stored("pinned") var count = 0
    }
    final class PresentConfig: StorableConfig {
        override class var formerNames: [String] { ["FormerKeysTests.PastConfig"] }
        @Stored(formerly: ["name"]) var title = ""
        @Stored var size = 0
        @Stored("launchCount", formerly: ["launches"]) var count = 0
    }

    @Test func aConfigClassIsReadUnderItsFormerNames() throws {
        let suite = DefaultsSuite.inMemory(["app/FormerKeysTests/PresentConfig/launches": 3])
        let past = PastConfig(in: suite, identifier: "app")
        past.name = "kai"
        past.size = 7
        let present = PresentConfig(in: suite, identifier: "app")
        #expect((present.title, present.size, present.count) == ("kai", 7, 3))
        present.title += "!"
        present.size = 8
        present.count += 1
        let prefix = "app/FormerKeysTests/PresentConfig/"
        let expected: SuiteContents = ["\(prefix)title": "kai!", "\(prefix)size": 8, "launchCount": 4]
        #expect(try suite.contents() == expected)
        present.reset()
        #expect(try suite.keys().isEmpty)
    }

    #if os(macOS) || os(Linux) || os(Windows)
        @Test func twoPropertiesCannotShareAFormerKey() async {
            await #expect(processExitsWith: .failure) {
                _ = SharingConfig(in: .inMemory(), identifier: "app")
            }
        }
    #endif
}
