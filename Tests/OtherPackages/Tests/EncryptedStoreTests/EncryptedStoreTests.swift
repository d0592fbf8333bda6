import Crypto
import Foundation
import Testing
import TypedDefaults

@testable import EncryptedStore

private struct Account: Codable, Equatable {
    var number = "4711"
    var pin = 1234
}

struct EncryptedStoreTests {
    @Test func aValueIsStoredEncrypted() throws {
        let (suite, key) = (DefaultsSuite.inMemory(), SymmetricKey(size: .bits256))
        let data = UserDefault("account", default: Data(), in: suite).store
        let store = EncryptedStore<Account>(base: data, key: key)
        try store.save(Account())
        try store.update(default: Account()) { $0.pin += 1 }
        #expect(try store.load() == Account(pin: 1235))
        let stored = try #require(data.get())
        #expect(stored.range(of: Data("4711".utf8)) == nil)

        let wrong = EncryptedStore<Account>(base: data, key: SymmetricKey(size: .bits256))
        #expect(throws: (any Error).self) { try wrong.load() }
        #expect(throws: (any Error).self) { try wrong.update(default: Account()) { $0.pin = 0 } }
        data.set(stored.dropLast() + [stored.last! ^ 1])
        #expect(throws: (any Error).self) { try store.load() }
        #expect(store.get() == nil)
    }
}
