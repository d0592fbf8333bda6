import Foundation
import TypedDefaults

extension FileBackend {
    /// Commits bytes as a suite does, without encoding anything.
    fileprivate func set(_ key: String, _ value: Data) {
        try! beginWrite()
        defer { endWrite() }
        try! commit([(key: key, value: .data(value))])
    }
}

private func keyNames(_ count: Int) -> [String] { (0..<count).map { "CameraConfig" + String($0 + 10_000) } }

// About the size of the five-field config. Its record in a settings file adds 13 bytes for the
// record and its operation, 18 for the key, 3 for the kind of the value and two counts, and 2 of
// padding.
private let value = Data(repeating: 7, count: 124)
private let record = [UInt8](repeating: 7, count: 160)

@MainActor
private func makeFile(keys: [String], _ durability: DefaultsSuite.Durability = .process) throws -> FileBackend {
    let file = FileBackend(path: Place.makePath("defaults"), durability: durability)
    for key in keys { file.set(key, value) }
    try file.synchronize()
    return file
}

/// Includes compactions of the file and checkpoints of SQLite.
@MainActor func compareCommitting() throws {
    var comparison = Comparison("Commit encoded bytes")
    let limit = LimitFile(in: Place.folder)
    comparison.add("limit: lock, check the name, write and unlock") {
        for _ in 0..<$0 { limit.writeLocked(record) }
    }
    for count in [10, 1_000, 10_000] {
        let keys = keyNames(count)
        let file = try makeFile(keys: keys)
        comparison.add("FileBackend, \(count) keys", goal: 1.3) {
            for index in 0..<$0 { file.set(keys[index % count], value) }
        }
        let database = try SQLiteSettings(in: Place.folder, .normal, keys: keys, value: value)
        comparison.add("SQLite NORMAL, \(count) keys") {
            for index in 0..<$0 { try! database.set(keys[index % count], value) }
        }
    }
    comparison.run()
}

@MainActor func compareSettingWithSQLite() throws {
    var comparison = Comparison("Set a five-field config on disk, a change each time")
    let keys = keyNames(10)
    let database = try SQLiteSettings(in: Place.folder, .normal, keys: keys, value: value)
    let other = Data(repeating: 8, count: value.count)
    comparison.add("SQLite NORMAL, already encoded") {
        for index in 0..<$0 { try! database.set(keys[0], index & 1 == 0 ? value : other) }
    }
    let (first, second) = CameraConfig.pair
    comparison.add("one encode: PropertyList(encoding:)") {
        for index in 0..<$0 { blackHole(try? PropertyList(encoding: index & 1 == 0 ? first : second)) }
    }
    let store = PersistentStore<CameraConfig>(in: DefaultsSuite(backend: try makeFile(keys: keys)))
    comparison.add("PersistentStore, file", goal: 0.33) {
        for index in 0..<$0 { store.set(index & 1 == 0 ? first : second) }
    }
    comparison.run()
}

/// Runs twice, because each comparison has only one first subject.
@MainActor func compareCommittingDurably() throws {
    let keys = keyNames(10)
    let limit = LimitFile(in: Place.folder)
    let file = try makeFile(keys: keys, .immediate)
    let store = PersistentStore<CameraConfig>(
        in: DefaultsSuite(backend: try makeFile(keys: keys, .immediate)))
    let (first, second) = CameraConfig.pair
    let database = try SQLiteSettings(in: Place.folder, .full, keys: keys, value: value)

    func compare(_ title: String, first isFirst: String, _ goal: Double) {
        var comparison = Comparison(title)
        func addLimit() {
            comparison.add("limit: write into zeros, fdatasync") { for _ in 0..<$0 { limit.writeFlushed(record) } }
        }
        func addDatabase() {
            comparison.add("SQLite FULL") { for index in 0..<$0 { try! database.set(keys[index % 10], value) } }
        }
        if isFirst == "limit" { addLimit() } else { addDatabase() }
        comparison.add("FileBackend, immediate", goal: goal) {
            for index in 0..<$0 {
                file.set(keys[index % 10], value)
                try! file.synchronize()
            }
        }
        comparison.add("PersistentStore, file, immediate") {
            for index in 0..<$0 { store.set(index & 1 == 0 ? first : second) }
        }
        comparison.run(batch: .milliseconds(100))
    }
    compare("Commit durably", first: "limit", 1.3)
    compare("Commit durably, with SQLite", first: "SQLite", 1.0)
}

@MainActor func compareSavingOnThreads() throws {
    let suite = DefaultsSuite(backend: try makeFile(keys: [], .immediate))
    let stores = keyNames(8).map { PersistentStore<CameraConfig>(in: suite, key: $0) }
    let (first, second) = CameraConfig.pair
    var comparison = Comparison("Save durably, time per save")
    comparison.add("1 thread") {
        for index in 0..<$0 { stores[0].set(index & 1 == 0 ? first : second) }
    }
    comparison.add("8 threads", goal: 0.33) { count in
        onThreads(8) { thread in
            for index in 0..<max(1, count / 8) { stores[thread].set(index & 1 == 0 ? first : second) }
        }
    }
    comparison.run(batch: .milliseconds(100))
}

/// Another backend in this process acts as another process. It opens the file separately, so the
/// two share as little as two processes do, but no pipe or scheduler adds to the time. The time
/// includes reading the clock around each `get`. The decode to compare with also follows a `set`,
/// which evicts most of it from the processor's caches.
@MainActor func compareReadingExternalChanges() throws {
    var comparison = Comparison("Get after another process has set")
    let (first, second) = CameraConfig.pair
    let encoded = try PropertyList(encoding: first)
    func add(_ name: String, keys: Int, goal: Goal?, _ get: @escaping @Sendable (PersistentStore<CameraConfig>) -> Void)
        throws
    {
        let file = try makeFile(keys: keyNames(keys))
        let other = FileBackend(path: file.location!)
        let store = PersistentStore<CameraConfig>(in: DefaultsSuite(backend: file))
        let otherStore = PersistentStore<CameraConfig>(in: DefaultsSuite(backend: other))
        comparison.add(name, goal: goal) { count in
            var duration = Duration.zero
            for index in 0..<count {
                otherStore.set(index & 1 == 0 ? first : second)
                let start = ContinuousClock.now
                get(store)
                duration += ContinuousClock.now - start
            }
            return duration
        }
    }
    try add("one decode: PropertyList.decode", keys: 10, goal: nil) { _ in
        blackHole(try? encoded.decode(CameraConfig.self))
    }
    for count in [10, 10_000] {
        try add("PersistentStore, file, \(count) keys", keys: count, goal: .nanosecondsMore(1_500)) {
            blackHole($0.get())
        }
    }
    comparison.run()
}

/// Creates a file with numbers under keys of 25 bytes.
@MainActor private func makeNumbers(_ count: Int) throws -> (path: String, keys: [String]) {
    let keys = (0..<count).map { "setting.number." + String($0 + 1_000_000_000) }
    let file = FileBackend(path: Place.makePath("defaults"))
    try file.beginWrite()
    for key in keys { try file.commit([(key: key, value: 7)]) }
    file.endWrite()
    try file.synchronize()
    return (file.location!, keys)
}

@MainActor func compareOpening() throws {
    let (path, keys) = try makeNumbers(10_000)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as! Int
    // Safe: used by one subject.
    nonisolated(unsafe) let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { buffer.deallocate() }
    var comparison = Comparison("Open 10,000 keys and get the first value")
    comparison.add("limit: read the file") { for _ in 0..<$0 { readFile(path, buffer) } }
    comparison.add("FileBackend", goal: .nanoseconds(1_500_000)) { count in
        var duration = Duration.zero
        for _ in 0..<count {
            let start = ContinuousClock.now
            let file = FileBackend(path: path)
            blackHole(try? file.value(forKey: keys[0]))
            duration += ContinuousClock.now - start
            // Close the file after measuring.
            withExtendedLifetime(file) {}
        }
        return duration
    }
    comparison.run()
}

@MainActor func compareFirstGet() throws {
    let (path, keys) = try makeNumbers(10)
    let domain = UserDefaults.makeDomain(Dictionary(uniqueKeysWithValues: keys.map { ($0, 7) }))
    UserDefaults(suiteName: domain)?.synchronize()
    var comparison = Comparison("First get of a process, 10 keys")
    for (name, goal, arguments) in [
        ("UserDefaults", nil, [domain]), ("DefaultsSuite(file:)", Goal.ratio(1), [path]),
    ] {
        comparison.add(name, goal: goal) { count in
            (0..<count).reduce(.zero) { sum, _ in sum + .nanoseconds(Child.run("first-get", arguments + [keys[0]])) }
        }
    }
    comparison.run(batch: .milliseconds(5))
}

@MainActor func compareHeap() throws {
    let title = "Heap for each of 10,000 keys"
    guard title.hasPrefix(CommandLine.arguments.dropFirst().first ?? "") else { return }
    let (path, keys) = try makeNumbers(10_000)
    let bytes = Double(Child.run("heap", [path, keys[0]])) / 10_000
    print("\n" + row(title, "bytes", "", "goal"))
    print(row("  FileBackend", String(format: "%.1f", bytes), "", "≤ 150\(bytes <= 150 ? "" : " ✗")"))
}
