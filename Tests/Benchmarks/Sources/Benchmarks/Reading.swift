import Foundation
import TypedDefaults

/// Gets the config by each form of declaration. The peers copy bytes and decode nothing.
@MainActor func compareReading() throws {
    try compare("get") { comparison in
        let keys = makeKeys(10)
        let suite = try Files.makeSettings(keys)
        let config = LockedConfig()
        comparison.add(.limit, "lock a mutex, copy the struct") { for _ in 0..<$0 { blackHole(config.get()) } }
        let store = PersistentStore<CameraConfig>(in: suite, key: keys[0])
        comparison.add(.ours, "PersistentStore") { for _ in 0..<$0 { blackHole(store.get()) } }
        let key = DefaultKey(keys[2], default: CameraConfig())
        comparison.add(.ours, "suite[.key]") { for _ in 0..<$0 { blackHole(suite[key]) } }
        let json = UserDefaultsWithJSON(keys: keys)
        comparison.add(.peer, "UserDefaults and JSONDecoder") { for _ in 0..<$0 { blackHole(json.get(at: 0)) } }
        comparison.addPeers(keys: [keys[0]])
    }
}

/// Gets the config on eight threads at once. A call takes the time of all threads divided by their
/// calls.
@MainActor func compareReadingOnThreads() throws {
    try compare("get on 8 threads") { comparison in
        func add(_ role: Role, _ name: String, get: @escaping @Sendable () -> Void) {
            comparison.add(role, name) { times in
                let group = DispatchGroup()
                for _ in 0..<8 {
                    group.enter()
                    Thread.detachNewThread {
                        for _ in 0..<(times / 8) { get() }
                        group.leave()
                    }
                }
                group.wait()
            }
        }
        let keys = makeKeys(10)
        let suite = try Files.makeSettings(keys)
        let config = LockedConfig()
        add(.limit, "lock a mutex, copy the struct") { blackHole(config.get()) }
        let store = PersistentStore<CameraConfig>(in: suite, key: keys[0])
        add(.ours, "PersistentStore") { blackHole(store.get()) }
    }
}

struct Wrapped {
    @UserDefault var camera: CameraConfig
    init(in suite: DefaultsSuite, key: String) { _camera = UserDefault(key, default: CameraConfig(), in: suite) }
}

/// Gets one key after the other, in an order that is not that of memory. Most of the time goes into
/// cache misses.
@MainActor func compareReadingMany() throws {
    let count = 10_000
    // At least twice each key.
    try compare("get, scattered over 10,000 keys", count: 20_000) { comparison in
        let keys = makeKeys(count)
        let configs = keys.map { _ in LockedConfig() }
        comparison.add(.limit, "lock a mutex, copy the struct") {
            for index in 0..<$0 { blackHole(configs[index % count].get()) }
        }
        let stores = try comparison.addStores(keys: keys)
        comparison.add(.ours, "PersistentStore") {
            for index in 0..<$0 { blackHole(stores[index % count].get()) }
        }
        let (suite, declared) = (
            try Files.makeSettings(keys), keys.map { DefaultKey($0, default: CameraConfig()) }
        )
        comparison.add(.ours, "suite[.key]") {
            for index in 0..<$0 { blackHole(suite[declared[index % count]]) }
        }
        comparison.addPeers(keys: keys)
    }
}

extension Comparison {
    /// Returns a store for each key of a new file.
    @MainActor func addStores(keys: [String]) throws -> [PersistentStore<CameraConfig>] {
        let suite = try Files.makeSettings(keys)
        return keys.map { PersistentStore(in: suite, key: $0) }
    }

    @MainActor fileprivate mutating func addPeers(keys: [String]) {
        let names = keys.map { Array($0.utf8) }
        // Safe: used by one subject at a time.
        nonisolated(unsafe) let buffer = makeBuffer()
        let lmdb = LMDB(path: Files.makePath(), keys: names, value: encodedConfig)
        add(.peer, "LMDB, bytes") {
            for index in 0..<$0 { blackHole(lmdb.get(names[index % names.count], into: buffer)) }
        }
        let sqlite = SQLite(path: Files.makePath(), keys: names, value: encodedConfig)
        add(.peer, "SQLite, bytes") {
            for index in 0..<$0 { blackHole(sqlite.get(names[index % names.count], into: buffer)) }
        }
    }
}

/// Another open of the same file in this process acts as another process. The two share as little
/// as two processes do, but no pipe or scheduler adds to the time, which includes reading the clock
/// once. LMDB opens a file once in a process, so its reader shares more with its writer.
@MainActor func compareReadingExternalChanges() throws {
    try compare("get after another process has set, 10 keys") { comparison in
        @MainActor func makeStores() throws -> [PersistentStore<CameraConfig>] {
            let suite = try Files.makeSettings(keys)
            return [suite, DefaultsSuite(backend: FileBackend(path: suite.location!))].map {
                PersistentStore(in: $0, key: keys[0])
            }
        }
        let keys = makeKeys(10)
        let encoded = try PropertyList(encoding: CameraConfig())
        let limit = try makeStores()
        // The decode follows a `set`, which evicts most of it from the processor's caches.
        comparison.add(.limit, "one decode") {
            limit[1].set(CameraConfig(shots: $0))
        } call: {
            try? encoded.decode(CameraConfig.self)
        }
        let stores = try makeStores()
        comparison.add(.ours, "PersistentStore") {
            stores[1].set(CameraConfig(shots: $0))
        } call: {
            stores[0].get()
        }
        let names = keys.map { Array($0.utf8) }
        nonisolated(unsafe) let buffer = makeBuffer()
        // Safe: used by one subject at a time.
        nonisolated(unsafe) var value = encodedConfig
        let lmdb = LMDB(path: Files.makePath(), keys: names, value: value)
        comparison.add(.peer, "LMDB, bytes") {
            value.vary($0)
            lmdb.set(names[0], value)
        } call: {
            lmdb.get(names[0], into: buffer)
        }
        let path = Files.makePath()
        let sqlite = (SQLite(path: path, keys: names, value: value), SQLite(path: path))
        comparison.add(.peer, "SQLite, bytes") {
            value.vary($0)
            sqlite.0.set(names[0], value)
        } call: {
            sqlite.1.get(names[0], into: buffer)
        }
    }
}
