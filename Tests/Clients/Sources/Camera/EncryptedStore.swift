import Foundation
import TypedDefaults

/// A store that keeps its values encrypted in another store.
public struct EncryptedStore<Default: Codable & Equatable & Sendable>: DefaultStoreDecorator {
    public let base: AnyStore<Data>
    private let key: UInt8

    public init(in base: AnyStore<Data>, key: UInt8) { (self.base, self.key) = (base, key) }

    public nonisolated func value(from stored: Data) throws -> Default { try decoded(encrypted(stored)) }

    public nonisolated func stored(from value: Default) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let plain = try encoder.encode([value])
        // On Linux, Foundation does not read back the text “$null”.
        guard (try? decoded(plain)) == value else {
            throw DefaultsError(.refused, reason: "the value does not survive Foundation's encoder")
        }
        return encrypted(plain)
    }

    private nonisolated func decoded(_ plain: Data) throws -> Default {
        try PropertyListDecoder().decode([Default].self, from: plain)[0]
    }

    /// Stands for a real cipher, which would be a dependency.
    private nonisolated func encrypted(_ data: Data) -> Data { Data(data.map { $0 ^ key }) }
}
