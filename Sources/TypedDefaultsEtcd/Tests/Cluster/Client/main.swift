import Dispatch
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
        environment: FLEET_USER FLEET_PASSWORD FLEET_CA FLEET_CERTIFICATE FLEET_KEY
                     FLEET_HEARTBEAT FLEET_STALENESS FLEET_TIMEOUT (seconds) FLEET_STALE=unavailable
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
let count = DefaultKey("count", default: 0)
let times = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0

do {
    switch arguments[1] {
    case "count", "count-in-steps": try increment(times, inSteps: arguments[1] == "count-in-steps")
    case "read": say("\(try UserDefault(count, in: suite()).store.load() ?? 0)")
    case "listen": try listen()
    case "history": try recordHistories(inSteps: arguments[4] == "in-steps")
    default: exit(2)
    }
} catch {
    say("error \(error)")
    exit(1)
}

/// Increments a number. Prints “ok”, “unknown” or an error for each time, and then the total.
func increment(_ times: Int, inSteps: Bool) throws {
    let setting = UserDefault(count, in: try suite())
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
