import Foundation
import TypedDefaults

/// Each `set` changes the value. The peers store bytes and encode nothing.
@MainActor func compareWriting() throws {
    for count in [10, 1_000, 10_000] {
        try compare("set, \(count.formatted()) keys", count: count > 10 ? 2 * count : nil) { comparison in
            let keys = makeKeys(count)
            comparison.addWriteLimit()
            let stores = try comparison.addStores(keys: keys)
            comparison.add(.ours, "PersistentStore") { times in
                for index in 0..<times { stores[index % count].set(.next()) }
            }
            comparison.addPeers(keys: keys, isVarying: true)
            guard count == 10 else { return }
            let json = UserDefaultsWithJSON(keys: keys)
            comparison.add(.peer, "UserDefaults, JSONEncoder, synchronize") { times in
                for index in 0..<times {
                    json.set(.next(), at: index % count)
                    json.synchronize()
                }
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
        let boxes = try comparison.addStores(keys: keys).map { AnyStore($0) }
        add(.ours, "AnyStore") { index in try! boxes[index].update { $0.shots += 1 } }
        let stores = try comparison.addStores(keys: keys)
        add(.ours, "PersistentStore") { index in try! stores[index].update { $0.shots += 1 } }
        let suite = try Files.makeSettings(keys)
        // Safe: measured on one thread at a time.
        nonisolated(unsafe) let wrapped = keys.map { Wrapped(in: suite, key: $0) }
        add(.ours, "@UserDefault, assigned") { index in wrapped[index].camera.shots += 1 }
        let sqlite = SQLite(path: Files.makePath(), keys: names, value: encodedConfig)
        sqlite.addConfigs()
        add(.peer, "SQLite NORMAL, a column") { sqlite.incrementShots(names[$0]) }
        // Safe: measured on one thread at a time.
        nonisolated(unsafe) var number = 0
        for (name, durability) in [("WRITEMAP NOSYNC", LMDB.Durability.writeMapNoSync), ("NOSYNC", .noSync)] {
            let lmdb = LMDB(path: Files.makePath(), durability, keys: names, value: encodedConfig)
            add(.peer, "LMDB \(name), bytes") { index in
                number += 1
                lmdb.update(names[index]) { $0.vary(number) }
            }
        }
        let json = UserDefaultsWithJSON(keys: keys)
        add(.peer, "UserDefaults, JSONDecoder, JSONEncoder, synchronize") { index in
            var config = json.get(at: index)!
            config.shots += 1
            json.set(config, at: index)
            json.synchronize()
        }
    }
    try compare("set of an equal value") { comparison in
        let keys = makeKeys(10)
        let stores = try comparison.addStores(keys: keys)
        comparison.add(.ours, "PersistentStore") { for index in 0..<$0 { stores[index % 10].set(CameraConfig()) } }
        comparison.addPeers(keys: keys, isVarying: false)
    }
    compare("set, in memory") { comparison in
        comparison.add(.limit, "one encode") {
            for _ in 0..<$0 { blackHole(try? PropertyList(encoding: CameraConfig.next())) }
        }
        let store = PersistentStore<CameraConfig>(in: .inMemory())
        comparison.add(.ours, "PersistentStore") { for _ in 0..<$0 { store.set(.next()) } }
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

    @MainActor fileprivate mutating func addPeers(keys: [String], isVarying: Bool) {
        let names = keys.map { Array($0.utf8) }
        func add(_ name: String, set: @escaping @Sendable ([UInt8], [UInt8]) -> Void) {
            // Safe: measured on one thread at a time.
            nonisolated(unsafe) var (value, number) = (encodedConfig, 0)
            self.add(.peer, name) { times in
                for index in 0..<times {
                    if isVarying {
                        number += 1
                        value.vary(number)
                    }
                    set(names[index % names.count], value)
                }
            }
        }
        let sqlite = SQLite(path: Files.makePath(), keys: names, value: encodedConfig)
        add("SQLite NORMAL, bytes") { sqlite.set($0, $1) }
        let mapped = LMDB(path: Files.makePath(), .writeMapNoSync, keys: names, value: encodedConfig)
        add("LMDB WRITEMAP NOSYNC, bytes") { mapped.set($0, $1) }
        let lmdb = LMDB(path: Files.makePath(), .noSync, keys: names, value: encodedConfig)
        add("LMDB NOSYNC, bytes") { lmdb.set($0, $1) }
    }
}

/// Commits encoded bytes, as a suite does.
@MainActor func compareCommitting() {
    for size in [100, 10_000, 100_000] {
        compare("commit of \(size.formatted()) bytes") { comparison in
            // Safe: measured on one thread at a time.
            nonisolated(unsafe) var (value, number) = ([UInt8](repeating: 7, count: size), 0)
            func add(_ role: Role, _ name: String, _ set: @escaping @Sendable ([UInt8]) -> Void) {
                comparison.add(role, name) { times in
                    for _ in 0..<times {
                        number += 1
                        value.vary(number)
                        set(value)
                    }
                }
            }
            let limit = LimitFile(path: Files.makePath(), length: max(64 << 10, size * 4))
            add(.limit, "lock, check, write, unlock") { limit.writeLocked($0) }
            add(.limit, "lock, check the name, write, unlock") { limit.writeLocked($0, checking: .name) }
            let key = "CameraConfig"
            let file = FileBackend(path: Files.makePath())
            add(.ours, "FileBackend") { value in
                try! file.beginWrite()
                _ = try! file.commit([(key: key, value: .data(Data(value)))], over: file.generation)
                file.endWrite()
            }
            let name = Array(key.utf8)
            let sqlite = SQLite(path: Files.makePath(), keys: [name], value: value)
            add(.peer, "SQLite NORMAL") { sqlite.set(name, $0) }
            let lmdb = LMDB(path: Files.makePath(), keys: [name], value: value)
            add(.peer, "LMDB WRITEMAP NOSYNC") { lmdb.set(name, $0) }
        }
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
        comparison.add(.ours, "PersistentStore, 8 threads") { count in
            onThreads(8) { thread in
                for index in 0..<max(1, count / 8) { stores[thread].set(CameraConfig(shots: index)) }
            }
        }
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

/// The distribution of many sets in a row. All subjects flush about once in a second, except
/// SQLite, which flushes when it copies its log into the database.
@MainActor func compareTails() throws {
    let count = Run.isShort ? 2_000 : 200_000
    let statistics = [", mean", ", p99", ", p99.9"]
    try compare("200,000 sets", statistics: statistics, count: count, rounds: 5) { comparison in
        func add(
            _ role: Role, _ name: String, flush: (@Sendable () -> Void)? = nil, set: @escaping @Sendable (Int) -> Void
        ) {
            comparison.addFigures(role, name) { count in
                let flusher = Thread {
                    while !Thread.current.isCancelled {
                        Thread.sleep(forTimeInterval: 1)
                        flush?()
                    }
                }
                if flush != nil { flusher.start() }
                var last = now()
                let durations = (0..<count).map { index in
                    set(index)
                    let start = last
                    last = now()
                    return last - start
                }
                flusher.cancel()
                return [durations.mean, durations.percentile(0.99), durations.percentile(0.999)]
            }
        }
        let keys = makeKeys(10)
        let names = keys.map { Array($0.utf8) }
        let limit = LimitFile(path: Files.makePath())
        add(.limit, "lock, check, write, unlock") {
            limit.flush()
        } set: { _ in
            limit.writeLocked(encodedRecord)
        }
        let stores = try comparison.addStores(keys: keys)
        add(.ours, "PersistentStore") { stores[$0 % 10].set(.next()) }
        nonisolated(unsafe) var value = encodedConfig
        let sqlite = SQLite(path: Files.makePath(), keys: names, value: value)
        add(.peer, "SQLite NORMAL, bytes") {
            value.vary($0)
            sqlite.set(names[$0 % 10], value)
        }
        let lmdb = LMDB(path: Files.makePath(), keys: names, value: value)
        add(.peer, "LMDB WRITEMAP NOSYNC, bytes") {
            lmdb.flush()
        } set: {
            value.vary($0)
            lmdb.set(names[$0 % 10], value)
        }
    }
}
