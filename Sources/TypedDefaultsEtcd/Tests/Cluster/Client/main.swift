import Dispatch
import Synchronization
import TypedDefaults
import TypedDefaultsEtcd

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

// The program that the proofs run: one machine of a fleet.

func say(_ text: String) {
    let bytes = Array("\(text)\n".utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
        guard count > 0 else { exit(1) }
        rest = rest.dropFirst(count)
    }
}

/// Nanoseconds of the clock that all processes share.
func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
    say(
        """
        usage: client count|count-in-steps ENDPOINTS PREFIX TIMES
               client read|listen ENDPOINTS PREFIX
               client history ENDPOINTS PREFIX careful|in-steps
               client pool ENDPOINTS PREFIX blocking|awaiting
               client save|stamp ENDPOINTS PREFIX TIMES
               client hear ENDPOINTS PREFIX TIMES
               client get ENDPOINTS PREFIX
        environment: FLEET_USER FLEET_PASSWORD FLEET_CA FLEET_CERTIFICATE FLEET_KEY
                     FLEET_HEARTBEAT FLEET_STALENESS FLEET_TIMEOUT (seconds) FLEET_STALE=unavailable
                     FLEET_COUNT (a key) FLEET_BODY (how long the body of an update takes, in ms)
        """)
    exit(2)
}
let environment = ProcessInfo.processInfo.environment
func backend() throws -> EtcdBackend {
    var configuration = EtcdConfiguration(
        endpoints: arguments[2].split(separator: ",").map(String.init), prefix: arguments[3])
    if let user = environment["FLEET_USER"], let password = environment["FLEET_PASSWORD"] {
        configuration.credentials = .init(user: user, password: password)
    }
    configuration.tls.authorities = environment["FLEET_CA"]
    if let certificate = environment["FLEET_CERTIFICATE"], let key = environment["FLEET_KEY"] {
        configuration.tls.client = (certificate, key)
    }
    func seconds(_ name: String) -> Duration? { environment[name].flatMap(Double.init).map { .seconds($0) } }
    configuration.heartbeat = seconds("FLEET_HEARTBEAT") ?? configuration.heartbeat
    configuration.maximumStaleness = seconds("FLEET_STALENESS") ?? configuration.maximumStaleness
    configuration.writeTimeout = seconds("FLEET_TIMEOUT") ?? configuration.writeTimeout
    if environment["FLEET_STALE"] == "unavailable" { configuration.whenStale = .unavailable }
    return try EtcdBackend(configuration)
}
func suite() throws -> DefaultsSuite {
    let suite = DefaultsSuite(backend: try backend())
    suite.onFailure = { say("failure \($0)") }
    return suite
}
let count = DefaultKey(environment["FLEET_COUNT"] ?? "count", default: 0)
let times = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0

do {
    switch arguments[1] {
    case "count", "count-in-steps": try increment(times, inSteps: arguments[1] == "count-in-steps")
    case "read": say("\(try UserDefault(count, in: suite()).store.load() ?? 0)")
    case "listen": try listen()
    case "history": try recordHistories(inSteps: arguments[4] == "in-steps")
    case "pool": try await usePool(blocks: arguments[4] == "blocking")
    case "save", "stamp": try save(times, pause: arguments[1] == "stamp" ? 5_000 : 0)
    case "hear": try hear(times)
    case "get": try get()
    default: exit(2)
    }
} catch {
    say("error \(error)")
    exit(1)
}

/// Increments a number. Prints “ok”, “unknown” or an error for each time, and then the total.
func increment(_ times: Int, inSteps: Bool) throws {
    let setting = UserDefault(count, in: try suite())
    let pause = environment["FLEET_BODY"].flatMap(UInt32.init) ?? 0
    var (bodies, slowest) = (0, 0)
    say("ready")
    for _ in 0..<times {
        let begin = now()
        do {
            if inSteps {
                try setting.store.save(setting.value + 1)
            } else {
                try setting.update { count in
                    count += 1
                    bodies += 1
                    if pause > 0 { usleep(pause * 1_000) }
                }
            }
            say("ok")
        } catch let error as DefaultsError {
            say(error.kind == .unknownOutcome ? "unknown" : "error \(error)")
        }
        slowest = max(slowest, now() - begin)
    }
    say("bodies \(bodies) slowest \(slowest / 1_000_000)")
}

/// Prints each change of the suite, until a change to −1.
func listen() throws {
    let (suite, done) = (try suite(), DispatchSemaphore(value: 0))
    let other = UserDefault(DefaultKey("other", default: 0), in: suite).store.observe { change in
        say("other \(change.newValue.map { "\($0)" } ?? "none")")
    }
    let token = UserDefault(count, in: suite).store.observe { change in
        say("count \(change.newValue.map { "\($0)" } ?? "none")")
        if change.newValue == -1 { done.signal() }
    }
    say("ready \(suite[count])")
    // What a read returns now is printed for each line of the input.
    DispatchQueue.global().async {
        while readLine() != nil {
            let value = Result { try UserDefault(count, in: suite).store.load() ?? 0 }
            say((try? value.get()).map { "value \($0)" } ?? "unavailable")
        }
    }
    done.wait()
    token.cancel()
    other.cancel()
}

/// Makes a random operation for each line of the input. Prints it with the times of its call and
/// its return.
func recordHistories(inSteps: Bool) throws {
    let suite = try suite()
    let settings = ["a", "b"].map { UserDefault(DefaultKey($0, default: 0), in: suite) }
    let mine = DefaultKey("mine.\(UInt64.random(in: .min ... .max))", default: 0)
    var operations = 0
    say("ready")
    while let line = readLine() {
        for _ in 0..<(Int(line) ?? 1) {
            operations += 1
            let (key, number) = (Int.random(in: 0...1), Int.random(in: 1...3))
            let kind = ["update", "update", "both", "read", "remove"].randomElement()!
            let begin = now()
            var read: [Int?] = []
            do {
                switch kind {
                case "update" where inSteps:
                    read = [settings[key].store.get()]
                    try settings[key].store.save((read[0] ?? 0) + number)
                case "update":
                    read = [
                        try settings[key].store.updateStored { stored in
                            defer { stored = (stored ?? 0) + number }
                            return stored
                        }
                    ]
                case "both":
                    read = try suite.update { contents in
                        defer { for setting in settings { contents[setting.key] += number } }
                        return settings.map { contents["\($0.key.name)"] == nil ? nil : contents[$0.key] }
                    }
                case "read":
                    // An update without a change: etcd confirms that the values are current.
                    read = try suite.update { contents in
                        settings.map { contents["\($0.key.name)"] == nil ? nil : contents[$0.key] }
                    }
                default:
                    read = [
                        try settings[key].store.updateStored { stored in
                            defer { stored = nil }
                            return stored
                        }
                    ]
                }
                let words = read.map { $0.map(String.init) ?? "none" }.joined(separator: " ")
                say("\(kind) \(key) \(number) \(begin) \(now()) \(words)")
            } catch let error as DefaultsError {
                let isUnknown = error.kind == .unknownOutcome
                say("\(isUnknown ? kind : "failed") \(key) \(number) \(begin) unknown")
                // The next commit of this process makes sure that nothing is stored later.
                while isUnknown, (try? UserDefault(mine, in: suite).update { $0 = operations }) == nil {}
            }
        }
        say("done")
    }
}

final class Progress: Sendable {
    let isDone = Atomic(false)
    let longest = Atomic(0)
    let running = Atomic(0)
    let width = Atomic(0)
}

/// Writes on each thread of the pool, and prints the longest time in which another task could not
/// run, in milliseconds.
func usePool(blocks: Bool) async throws {
    let (suite, progress) = (try suite(), Progress())
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
            group.addTask {
                progress.width.max(progress.running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
                usleep(20_000)
                progress.running.subtract(1, ordering: .relaxed)
            }
        }
    }
    let begin = now()
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            var last = now()
            while !progress.isDone.load(ordering: .relaxed) {
                await Task.yield()
                let time = now()
                progress.longest.max(time - last, ordering: .relaxed)
                last = time
                usleep(100)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { writers in
            for _ in 0..<8 {
                writers.addTask {
                    for _ in 0..<10 {
                        let setting = UserDefault(count, in: suite)
                        if blocks {
                            try setting.update { $0 += 1 }
                        } else {
                            try await setting.awaiting.update { $0 += 1 }
                        }
                    }
                }
            }
            try await writers.waitForAll()
        }
        progress.isDone.store(true, ordering: .relaxed)
        try await group.waitForAll()
    }
    say(
        "threads \(progress.width.load(ordering: .relaxed)) sum \(suite[count]) ms \((now() - begin) / 1_000_000)"
            + " longest \(progress.longest.load(ordering: .relaxed) / 1_000_000)")
}

// Figures. Each prints its times in nanoseconds.

/// Saves the time.
func save(_ times: Int, pause: UInt32) throws {
    let store = UserDefault(count, in: try suite()).store
    try store.save(0)
    say("ready")
    for _ in 0..<times {
        let begin = now()
        try store.save(begin)
        say("\(now() - begin)")
        usleep(pause)
    }
}

/// Prints how long the changes of another process take to arrive.
func hear(_ times: Int) throws {
    let (store, done) = (UserDefault(count, in: try suite()).store, DispatchSemaphore(value: 0))
    let heard = Atomic(0)
    let token = store.observe { change in
        guard let sent = change.newValue, sent > 0 else { return }
        say("\(now() - sent)")
        if heard.add(1, ordering: .relaxed).newValue == times { done.signal() }
    }
    say("ready")
    _ = done.wait(timeout: .now() + 60)
    token.cancel()
}

/// Reads a setting in etcd and one in memory in turns, and prints the fastest of 40 rounds.
func get() throws {
    let etcd = UserDefault(count, in: try suite())
    let memory = UserDefault(count, in: .inMemory())
    for setting in [etcd, memory] { try setting.update { $0 = 7 } }
    var (best, sum) = ([Int.max, .max], 0)
    for _ in 0..<40 {
        for (index, setting) in [etcd, memory].enumerated() {
            let begin = now()
            for _ in 0..<20_000 { sum &+= setting.value }
            best[index] = min(best[index], now() - begin)
        }
    }
    guard sum == 2 * 40 * 20_000 * 7 else { exit(1) }
    say("\(best[0]) \(best[1])")
}
