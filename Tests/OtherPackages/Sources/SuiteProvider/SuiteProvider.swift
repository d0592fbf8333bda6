import Configuration
import Foundation
import TypedDefaults

struct SuiteProvider: ConfigProvider {
    typealias Updates<Element: Sendable> = ConfigUpdatesAsyncSequence<Element, Never>

    let suite: DefaultsSuite
    let providerName = "SuiteProvider"

    func snapshot() -> any ConfigSnapshot { Snapshot(contents: Result { try suite.contents() }) }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try snapshot().value(forKey: key, type: type)
    }

    func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        try value(forKey: key, type: type)
    }

    func watchSnapshot<Return: ~Copyable>(
        updatesHandler: nonisolated(nonsending) (Updates<any ConfigSnapshot>) async throws -> Return
    ) async throws -> Return {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let token = suite.observeAll { _ in continuation.yield() }
        defer { token.cancel() }
        continuation.yield()
        return try await updatesHandler(.init(signals.map { _ in snapshot() }))
    }

    func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: nonisolated(nonsending) (Updates<Result<LookupResult, any Error>>) async throws -> Return
    ) async throws -> Return {
        try await watchSnapshot { snapshots in
            let results = snapshots.map { snapshot in Result { try snapshot.value(forKey: key, type: type) } }
            return try await updatesHandler(.init(results))
        }
    }

    struct Snapshot: ConfigSnapshot {
        let providerName = "SuiteProvider"
        let contents: Result<SuiteContents, any Error>

        /// The value of the key `Shop/limit`, or else the property `limit` of the config `Shop`.
        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
            let (path, name, all) = (key.components, key.components.joined(separator: "/"), try contents.get())
            let part = path.dropFirst().reduce(path.first.flatMap { all[$0]?.object }) { ($0 as? [String: Any])?[$1] }
            guard let stored = all[name]?.object ?? part else { return LookupResult(encodedKey: name, value: nil) }
            guard let content = content(stored, type) else {
                throw DefaultsError(.unreadable, key: name, type: type.rawValue, reason: "another type is stored")
            }
            return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: false))
        }

        private func content(_ stored: Any, _ type: ConfigType) -> ConfigContent? {
            switch type {
            case .string: (stored as? String).map(ConfigContent.string)
            case .int: (stored as? Int).map(ConfigContent.int)
            case .double: (stored as? Double ?? (stored as? Int).map(Double.init)).map(ConfigContent.double)
            case .bool: (stored as? Bool).map(ConfigContent.bool)
            case .bytes: (stored as? Data).map { .bytes(Array($0)) }
            case .stringArray: (stored as? [String]).map(ConfigContent.stringArray)
            case .intArray: (stored as? [Int]).map(ConfigContent.intArray)
            case .doubleArray: (stored as? [Double]).map(ConfigContent.doubleArray)
            case .boolArray: (stored as? [Bool]).map(ConfigContent.boolArray)
            case .byteChunkArray: (stored as? [Data]).map { .byteChunkArray($0.map { Array($0) }) }
            }
        }
    }
}
