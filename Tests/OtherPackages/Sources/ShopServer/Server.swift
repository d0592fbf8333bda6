import Dispatch
import Foundation
import Logging
import Synchronization
import TypedDefaults

// The article *Servers and containers* shows most of this file. `servers` runs the program.

struct Shop: DefaultConfig {
    static let key = "Shop"
    static let rules: [DefaultRule<Shop>] = [.on(\.limit, .in(1...1_000_000))]
    var limit = 1_000_000
    var orders = 0
}

nonisolated extension DefaultKey<Int> {
    static let starts = DefaultKey("starts", default: 0)
}

let logger = Logger(label: "shop")

/// Logs each failure once, and counts all of them by kind.
final class FailureLog: Sendable {
    private struct Noted {
        var failures: Set<DefaultsError> = []
        var counts: [DefaultsError.Kind: Int] = [:]
    }
    private let noted = Mutex(Noted())

    func note(_ error: DefaultsError) {
        let isNew = noted.withLock { noted in
            noted.counts[error.kind, default: 0] += 1
            return noted.failures.insert(error).inserted
        }
        if isNew { logger.error("\(error)", metadata: ["kind": "\(error.kind)"]) }
    }

    /// For your metrics.
    var counts: [DefaultsError.Kind: Int] { noted.withLock { $0.counts } }
}

let failures = FailureLog()

func openSettings() throws -> DefaultsSuite {
    guard let folder = ProcessInfo.processInfo.environment["STATE_DIRECTORY"] else {
        throw DefaultsError(.unavailable, reason: "STATE_DIRECTORY is not set")
    }
    let file = URL(filePath: folder).appending(path: "shop.defaults")
    let suite = try DefaultsSuite(file: file)
    suite.onFailure = { error in failures.note(error) }
    try suite.checkReadability(Shop.self)
    try suite.update(.starts) { $0 += 1 }
    return suite
}

/// All writes run here.
let writes = DispatchQueue(label: "writes")

func stopAtSIGTERM(_ suite: DefaultsSuite) -> any DispatchSourceSignal {
    let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: writes)
    source.setEventHandler {
        // No write is running now, and none follows.
        do {
            try suite.synchronize()
            exit(0)
        } catch {
            logger.critical(
                "the last settings may not survive a power failure: \(error)")
            exit(1)
        }
    }
    let isReady = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { isReady.signal() }
    source.resume()
    isReady.wait()
    return source
}

@main enum Server {
    static func main() {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        do {
            let suite = try openSettings()
            let source = stopAtSIGTERM(suite)
            serve(PersistentStore(in: suite))
            source.cancel()
        } catch {
            logger.critical("cannot start: \(error)")
            exit(1)
        }
    }

    /// Takes orders until the end of the input.
    static func serve(_ shop: PersistentStore<Shop>) {
        // A careless server answers before it writes. `servers` must find that orders are lost.
        let isCareless = CommandLine.arguments.contains("--careless")
        var next = shop.value.orders
        while let request = nextRequest() {
            switch request {
            case "o" where isCareless:
                next += 1
                writes.async { _ = try? shop.update { $0.orders += 1 } }
                reply("\(next)")
            case "o":
                let number = writes.sync {
                    try? shop.update { shop in
                        shop.orders += 1
                        return shop.orders
                    }
                }
                reply(number.map(String.init) ?? "not stored")
            case "l": reply("limit \(shop.value.limit)")
            default: reply("failures \(failures.counts.values.reduce(0, +))")
            }
        }
    }

    /// Each byte of standard input is a request.
    private static func nextRequest() -> Character? {
        var byte: UInt8 = 0
        return read(STDIN_FILENO, &byte, 1) == 1 ? Character(UnicodeScalar(byte)) : nil
    }

    private static func reply(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
}
