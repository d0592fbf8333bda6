import Foundation
import TestSupport
import Testing
import TypedDefaults

struct PersistentStoreTests {
    /// A hand-written type that counts how often it is decoded.
    struct Counted: DefaultConvertible {
        static let key = "counted"
        static let decodings = Guarded(0)
        var number: Int
        init(number: Int) { self.number = number }
        init?(_ object: Any) {
            Self.decodings.withLock { $0 += 1 }
            guard let number = object as? Int else { return nil }
            self.number = number
        }
        func serialize() -> Any { number }
    }

    @Test(.serialized, arguments: [true, false])
    func aValueIsDecodedOncePerChangeOfItsKey(hasGenerations: Bool) {
        let backend = SpyBackend(["counted": 5], hasGenerations: hasGenerations)
        let suite = DefaultsSuite(backend: backend)
        let store = PersistentStore<Counted>(in: suite)
        let other = PersistentStore<CameraConfig>(in: suite)
        #expect(store.get()?.number == 5)
        let afterFirst = Counted.decodings.withLock { $0 }
        for _ in 0..<3 {
            other.set(CameraConfig(size: .large))
            other.remove()
            backend.write("other", forKey: "another key")
            #expect(store.get()?.number == 5)
        }
        #expect(Counted.decodings.withLock { $0 } == afterFirst)
        backend.write(6, forKey: "counted")
        #expect(store.get()?.number == 6)
        #expect(store.get()?.number == 6)
        #expect(Counted.decodings.withLock { $0 } == afterFirst + 1)
        // The store's own value is not decoded to be overwritten.
        store.set(Counted(number: 0))
        let afterSet = Counted.decodings.withLock { $0 }
        for number in 1...3 { store.set(Counted(number: number)) }
        #expect(Counted.decodings.withLock { $0 } == afterSet)
    }

    @Test func classInstancesAreNeverShared() throws {
        final class Settings: DefaultConvertible, Codable {
            static let key = "settings"
            let name: String
            init(name: String) { self.name = name }
        }
        let suite = DefaultsSuite.inMemory()
        let store = PersistentStore<Settings>(in: suite)
        store.set(Settings(name: "a"))
        let first = try #require(store.get())
        let second = try #require(store.get())
        #expect(first.name == "a" && second.name == "a")
        #expect(first !== second)
        let optional = DefaultKey<Settings?>("settings", default: nil)
        #expect(suite[optional] !== suite[optional])
    }

    @Test func aValueThatIsTheSameIsNotWrittenAgain() {
        let backend = SpyBackend()
        let suite = DefaultsSuite(backend: backend)
        let number = DefaultKey("number", default: 1.0)
        for value in [0.0, 0.0, -0.0, -0.0, .nan, .nan] { suite[number] = value }
        #expect(backend.commits.count == 3)
        let text = DefaultKey("text", default: "")
        for value in ["\u{E9}", "\u{E9}", "e\u{301}"] { suite[text] = value }
        #expect(backend.commits.count == 5)
    }

    // Law 2

    @Test func loadDistinguishesMissingUnreadableAndUnavailable() throws {
        let backend = SpyBackend(["CameraConfig": "not a config"])
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let store = PersistentStore<CameraConfig>(in: suite)
        #expect(fails(with: .unreadable) { _ = try store.load() })
        backend.write(nil, forKey: "CameraConfig")
        #expect(try store.load() == nil)
        backend.write("still not", forKey: "CameraConfig")
        backend.fail(with: DefaultsError(.unavailable, reason: "locked"))
        #expect(fails(with: .unavailable) { _ = try store.load() })
        #expect(failures.kinds == [])
    }

    @Test(arguments: [true, false])
    func anUnreadableValueIsSetAsideInTheSameCommit(hasGenerations: Bool) throws {
        let backend = SpyBackend(["CameraConfig": "precious"], hasGenerations: hasGenerations)
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let store = PersistentStore<CameraConfig>(in: suite)
        store.set(CameraConfig())
        #expect(store.get() == CameraConfig())
        #expect(backend.commits.count == 1)
        #expect(backend.contents["CameraConfig.unreadable"] == "precious")
        #expect(failures.kinds == [.unreadable])
        #expect(failures.all.first?.reason.contains("CameraConfig.unreadable") == true)
        // A second copy does not replace the first.
        backend.write("precious too", forKey: "CameraConfig")
        store.set(CameraConfig())
        #expect(backend.contents["CameraConfig.unreadable"] == "precious")
        #expect(backend.contents["CameraConfig.unreadable-2"] == "precious too")
        // An equal copy exists already.
        backend.write("precious", forKey: "CameraConfig")
        store.set(CameraConfig(size: .large))
        #expect(backend.contents.count == 3)
    }

    @Test func anUnreadableValueIsSetAsideForNilButNotForRemoving() {
        let backend = SpyBackend(["nickname": 5])
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let nickname = DefaultKey<String?>("nickname", default: nil)
        suite[nickname] = nil
        #expect(backend.contents == ["nickname.unreadable": 5])
        #expect(failures.kinds == [.unreadable])
        backend.write(6, forKey: "nickname")
        UserDefault(nickname, in: suite).store.remove()
        #expect(backend.contents == ["nickname.unreadable": 5])
    }

    @Test func nothingIsWrittenOverWhatIsUnavailable() {
        let backend = SpyBackend(["CameraConfig": "precious"])
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        backend.fail(with: DefaultsError(.unavailable, reason: "locked"))
        let store = PersistentStore<CameraConfig>(in: suite)
        store.set(CameraConfig())
        store.remove()
        #expect(store.get() == nil)
        #expect(failures.kinds == Array(repeating: .unavailable, count: 3))
        #expect(fails(with: .unavailable) { try suite.removeAll() })
        #expect(backend.contents == ["CameraConfig": "precious"])
        #expect(backend.commits.isEmpty)
    }

    // Law 5: no conversion under a lock

    struct Curious: DefaultConvertible {
        static let key = "curious"
        static let suite = DefaultsSuite.inMemory([
            "curious": 1, "CameraConfig": ["savesToCameraRoll": true, "size": "small"],
        ])
        init() {}
        init?(_ object: Any) {
            let config = PersistentStore<CameraConfig>(in: Self.suite)
            guard config.get()?.size == .small else { return nil }
            Self.suite[DefaultKey("seen", default: false)] = true
        }
        func serialize() -> Any { PersistentStore<CameraConfig>(in: Self.suite).get() == nil ? 0 : 1 }
    }

    @Test func aConversionMayReadAndWriteTheSuite() {
        #expect(PersistentStore<Curious>(in: Curious.suite).get() != nil)
        #expect(Curious.suite[DefaultKey("seen", default: false)])
    }

    /// A type that reads back only some of the values that it writes.
    struct Positive: DefaultConvertible {
        static let key = "positive"
        var number: Int
        init(number: Int) { self.number = number }
        init?(_ object: Any) {
            guard let number = object as? Int, number > 0 else { return nil }
            self.number = number
        }
        func serialize() -> Any { number }
    }

    @Test func anOwnValueThatCouldNotBeReadIsSetAsideToo() throws {
        let backend = SpyBackend()
        let store = PersistentStore<Positive>(in: DefaultsSuite(backend: backend).quiet)
        for number in [1, -1] { try store.save(Positive(number: number)) }
        #expect(fails(with: .unreadable) { _ = try store.load() })
        try store.save(Positive(number: 2))
        #expect(backend.contents == ["positive": 2, "positive.unreadable": -1])
    }
}
