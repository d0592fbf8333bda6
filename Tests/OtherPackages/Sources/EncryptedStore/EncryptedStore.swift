import Crypto
import Foundation
import TypedDefaults

struct EncryptedStore<Default: Codable & Sendable>: DefaultStoreDecorator {
    let base: AnyStore<Data>
    let key: SymmetricKey

    func value(from stored: Data) throws -> Default {
        let box = try AES.GCM.SealedBox(combined: stored)
        return try JSONDecoder().decode(Default.self, from: AES.GCM.open(box, using: key))
    }

    func stored(from value: Default) throws -> Data {
        try AES.GCM.seal(JSONEncoder().encode(value), using: key).combined!
    }
}
