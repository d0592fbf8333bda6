import Foundation
import TypedDefaults

/// Each `set` changes the value. The peers store bytes and encode nothing.
@MainActor func compareWriting() throws {
    try compare("set, 10 keys") { comparison in
        let keys = makeKeys(10)
        comparison.addWriteLimit()
        let stores = try comparison.addStores(keys: keys)
        comparison.add(.ours, "PersistentStore") { times in
            for index in 0..<times { stores[index % 10].set(.next()) }
        }
        comparison.addPeers(keys: keys)
        let json = UserDefaultsWithJSON(keys: keys)
        comparison.add(.peer, "UserDefaults, JSONEncoder, synchronize") { times in
            for index in 0..<times {
                json.set(.next(), at: index % 10)
                json.synchronize()
            }
        }
    }
    try compare("update of one property, 10 keys") { comparison in
        let keys = makeKeys(10)
        let names = keys.map { Array($0.utf8) }
        comparison.addWriteLimit()
        func add(_ role: Role, _ name: String, update: @escaping @Sendable (_ index: Int) -> Void) {
            comparison.add(role, name) { for index in 0..<$0 { update(index % 10) } }
        }
        let stores = try comparison.addStores(keys: keys)
        add(.ours, "PersistentStore") { index in try! stores[index].update { $0.shots += 1 } }
        let suite = try Files.makeSettings(keys)
        let wrapped = keys.map { Wrapped(in: suite, key: $0) }
        add(.ours, "@UserDefault, assigned") { index in wrapped[index].camera.shots += 1 }
        let sqlite = SQLite(path: Files.makePath(), keys: names, value: encodedConfig)
        sqlite.addConfigs()
        add(.peer, "SQLite NORMAL, a column") { sqlite.incrementShots(names[$0]) }
        // Safe: measured on one thread at a time.
        nonisolated(unsafe) var number = 0
        let lmdb = LMDB(path: Files.makePath(), keys: names, value: encodedConfig)
        add(.peer, "LMDB WRITEMAP NOSYNC, bytes") { index in
            number += 1
            lmdb.update(names[index]) { $0.vary(number) }
        }
        let json = UserDefaultsWithJSON(keys: keys)
        add(.peer, "UserDefaults, JSONDecoder, JSONEncoder, synchronize") { index in
            var config = json.get(at: index)!
            config.shots += 1
            json.set(config, at: index)
            json.synchronize()
        }
    }
}

extension CameraConfig {
    // Safe: measured on one thread at a time.
    private nonisolated(unsafe) static var count = 0

    /// Returns a config that differs from all others.
    fileprivate static func next() -> CameraConfig {
        count += 1
        return CameraConfig(shots: count)
    }
}

extension Comparison {
    @MainActor fileprivate mutating func addWriteLimit() {
        let limit = LimitFile(path: Files.makePath())
        add(.limit, "lock, check, write, unlock") { for _ in 0..<$0 { limit.writeLocked(encodedRecord) } }
    }

    @MainActor fileprivate mutating func addPeers(keys: [String]) {
        let names = keys.map { Array($0.utf8) }
        func add(_ name: String, set: @escaping @Sendable ([UInt8], [UInt8]) -> Void) {
            // Safe: measured on one thread at a time.
            nonisolated(unsafe) var (value, number) = (encodedConfig, 0)
            self.add(.peer, name) { times in
                for index in 0..<times {
                    number += 1
                    value.vary(number)
                    set(names[index % names.count], value)
                }
            }
        }
        let sqlite = SQLite(path: Files.makePath(), keys: names, value: encodedConfig)
        add("SQLite NORMAL, bytes") { sqlite.set($0, $1) }
        let lmdb = LMDB(path: Files.makePath(), keys: names, value: encodedConfig)
        add("LMDB WRITEMAP NOSYNC, bytes") { lmdb.set($0, $1) }
    }
}

/// Commits encoded bytes, as a suite does.
@MainActor func compareCommitting() {
    compare("commit of 100,000 bytes") { comparison in
        // Safe: measured on one thread at a time.
        nonisolated(unsafe) var (value, number) = ([UInt8](repeating: 7, count: 100_000), 0)
        func add(_ role: Role, _ name: String, _ set: @escaping @Sendable ([UInt8]) -> Void) {
            comparison.add(role, name) { times in
                for _ in 0..<times {
                    number += 1
                    value.vary(number)
                    set(value)
                }
            }
        }
        let limit = LimitFile(path: Files.makePath(), length: 400_000)
        add(.limit, "lock, check, write, unlock") { limit.writeLocked($0) }
        let key = "CameraConfig"
        let file = FileBackend(path: Files.makePath())
        add(.ours, "FileBackend") { value in
            try! file.write { () throws(DefaultsError) in
                _ = try file.commit([(key: key, value: .data(Data(value)))], over: nil)
            }
        }
        let name = Array(key.utf8)
        let sqlite = SQLite(path: Files.makePath(), keys: [name], value: value)
        add(.peer, "SQLite NORMAL") { sqlite.set(name, $0) }
        let lmdb = LMDB(path: Files.makePath(), keys: [name], value: value)
        add(.peer, "LMDB WRITEMAP NOSYNC") { lmdb.set(name, $0) }
    }
}

/// Each call returns when the change survives a power failure. Rounds of few calls fit between the
/// flushes of other programs, which slow down every flush of the disk.
@MainActor func compareWritingDurably() throws {
    try compare("durable set", count: 40, rounds: 150) { comparison in
        let keys = makeKeys(10)
        let names = keys.map { Array($0.utf8) }
        let limit = LimitFile(path: Files.makePath())
        comparison.add(.limit, "write into zeros, fdatasync") {
            for _ in 0..<$0 {
                limit.write(encodedRecord)
                limit.flush()
            }
        }
        let suite = try Files.makeSettings(keys, .immediate)
        let stores = keys.map { PersistentStore<CameraConfig>(in: suite, key: $0) }
        comparison.add(.ours, "PersistentStore") { for index in 0..<$0 { stores[index % 10].set(.next()) } }
        nonisolated(unsafe) var (value, number) = (encodedConfig, 0)
        func add(_ name: String, _ set: @escaping @Sendable ([UInt8], [UInt8]) -> Void) {
            comparison.add(.peer, name) { times in
                for index in 0..<times {
                    number += 1
                    value.vary(number)
                    set(names[index % 10], value)
                }
            }
        }
        let sqlite = SQLite(path: Files.makePath(), .full, keys: names, value: value)
        add("SQLite FULL, bytes") { sqlite.set($0, $1) }
        let lmdb = LMDB(path: Files.makePath(), .sync, keys: names, value: value)
        add("LMDB, bytes") { lmdb.set($0, $1) }
    }
}
