import Foundation
import TypedDefaults

/// An encrypted value as it is stored.
struct SealedConfig: DefaultConvertible, Codable {
    static let key = "SealedCameraConfig"
    var bytes: Data
}

/// A store of a config that keeps it encrypted in another store.
struct EncryptedStore<Default: DefaultConfig>: DefaultStoreDecorator {
    let base: AnyStore<SealedConfig>
    let cipher: ToyCipher

    func value(from stored: SealedConfig) throws -> Default {
        try JSONDecoder().decode(Default.self, from: cipher.open(stored.bytes))
    }

    func stored(from value: Default) throws -> SealedConfig {
        SealedConfig(bytes: cipher.seal(try JSONEncoder().encode(value)))
    }
}

/// A placeholder for AES-GCM, so that this package has no dependencies. It protects nothing.
struct ToyCipher: Sendable {
    struct WrongKey: Error {}

    let key: UInt64

    /// Returns a nonce, and the encrypted bytes and their checksum. Each call returns different
    /// bytes.
    func seal(_ plain: Data) -> Data {
        let nonce = UInt64.random(in: .min ... .max)
        return bytes(of: nonce) + combine(plain + bytes(of: checksum(plain)), nonce: nonce)
    }

    func open(_ sealed: Data) throws -> Data {
        guard sealed.count >= 16 else { throw WrongKey() }
        let nonce = sealed.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let opened = combine(sealed.dropFirst(8), nonce: nonce)
        let plain = opened.dropLast(8)
        guard opened.suffix(8) == bytes(of: checksum(plain)) else { throw WrongKey() }
        return plain
    }

    private func combine(_ data: Data, nonce: UInt64) -> Data {
        var state = key ^ nonce
        return Data(
            data.map { byte in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return byte ^ UInt8(truncatingIfNeeded: state >> 56)
            })
    }

    private func checksum(_ data: Data) -> UInt64 {
        data.reduce(14_695_981_039_346_656_037 ^ key) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }

    private func bytes(of number: UInt64) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }
}
