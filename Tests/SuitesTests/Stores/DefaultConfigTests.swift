import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

/// Stores return stored values. Settings use the default in place of a missing value.
struct DefaultConfigTests {
    struct Config: DefaultConfig, Equatable {
        static let key = "Config"
        var id = UUID()
        var size = 3
        var name: String?
    }

    @Test func theDefaultIsMadeOnce() throws {
        let store = AnyStore<Config>.inMemory()
        let id = store.value.id
        #expect(store.value.id == id)
        #expect(AnyStore<Config>.inMemory().value.id == id)
        try store.update { $0.size = 1 }
        #expect(store.value.id == id)
        #expect(UserDefault<Config>(in: .inMemory()).value.id == id)
    }

    @Test func theDefaultIsMadeOnceByManyThreads() {
        struct Contended: DefaultConfig {
            static let key = "Contended"
            var id = UUID()
        }
        let ids = Guarded<Set<UUID>>([])
        onThreads(8) { _ in
            let id = PersistentStore<Contended>(in: .inMemory()).value.id
            ids.withLock { _ = $0.insert(id) }
        }
        #expect(ids.withLock { $0.count } == 1)
    }

    @Test func observersReceiveTheDefaultForAMissingValue() throws {
        let store = AnyStore<Config>.inMemory()
        let changes = Heard { note in
            store.observe(initial: true) { note(($0.kind, $0.newValue?.size, $0.value.size)) }
        }
        try store.update { $0.size = 4 }
        store.remove()
        let kinds = changes.all.map(\.0)
        #expect(kinds == [.initial, .set, .removed])
        #expect(changes.all.map(\.1) == [nil, 4, nil])
        #expect(changes.all.map(\.2) == [3, 4, 3])
    }

    @Test func valuesBeginWithTheDefault() async {
        let store = AnyStore<Config>.inMemory()
        var iterator = store.values.makeAsyncIterator()
        let first: Config? = await iterator.next()
        #expect(first == store.value)
    }

    @Test func observersOfAPropertyReceiveTheDefaultForAMissingValue() throws {
        let store = AnyStore<Config>.inMemory()
        let received = Heard { note in store.observe(\.size, initial: true) { note([$0.oldValue, $0.newValue]) } }
        try store.update { _ in }
        try store.update { $0.size = 4 }
        store.set(store.value)
        store.remove()
        store.remove()
        #expect(received.all == [[nil, 3], [3, 4], [4, 3]])
    }
}

struct KeyVerbsTests {
    private let count = DefaultKey("count", default: 1)
    private let name = DefaultKey<String?>("name")

    @Test func readThrowsForAValueThatItCannotRead() throws {
        let suite = DefaultsSuite.inMemory(["count": "many", "name": "Ada"])
        suite.onFailure = { _ in }
        #expect(suite[count] == 1)
        #expect(fails(with: .unreadable) { _ = try suite.read(count) })
        #expect(fails(with: .unreadable) { _ = try suite.read(name, count) })
        let text = try suite.read(name)
        #expect(text == "Ada")
        try suite.update { contents in
            #expect(fails(with: .unreadable) { _ = try contents.read(count) })
            contents[count] = 4
            let changed = try contents.read(count)
            contents.removeAll()
            let removed = try contents.read(count)
            #expect((changed, removed) == (4, 1))
            #expect(contents.isEmpty)
        }
        #expect(try suite.contents().isEmpty)
    }
}

/// Stores that other code writes to.
struct DecoratorTests {
    /// Encrypts by adding a number to each byte.
    private struct EncryptedStore<Default: Codable & Sendable>: DefaultStoreDecorator {
        let base: AnyStore<Data>
        let secret: UInt8

        func value(from stored: Data) throws -> Default {
            try JSONDecoder().decode([Default].self, from: Data(stored.map { $0 &- secret }))[0]
        }
        func stored(from value: Default) throws -> Data {
            Data(try JSONEncoder().encode([value]).map { $0 &+ secret })
        }
    }

    /// The base can read it, so it would be lost.
    @Test func anUpdateKeepsAValueThatADecoratorCannotRead() throws {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { _ in }
        let base = UserDefault("secret", default: Data(), in: suite).store
        base.set(Data([1, 2, 3]))
        let store = AnyStore(EncryptedStore<String>(base: base, secret: 9))
        #expect(fails(with: .unreadable) { try store.update(default: "") { $0 += "?" } })
        #expect(fails(with: .unreadable) { try store.updateStored { $0 = nil } })
        #expect(base.get() == Data([1, 2, 3]))
    }
}
