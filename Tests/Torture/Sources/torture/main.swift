import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#endif

/// A setting whose contents follow from its number, so that a mix or a remnant shows.
struct Entry: DefaultConvertible, Codable, Equatable {
    static let key = "entry"
    var number: Int
    var text: String

    init(_ number: Int) {
        self.number = number
        // Of very different lengths, so that the file is replaced every few writes.
        text = String(repeating: String(number % 10), count: number * 2_654_435_761 % 5_000)
    }
}

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func fail(_ reason: String) -> Never {
    say(reason)
    exit(1)
}

/// Writes without end, and says so before and after each write. With a limit it ends, and with `carryOn` not even at an error.
func write(_ suite: DefaultsSuite, limit: Int, acknowledgesFirst: Bool, carriesOn: Bool, synchronizes: Bool) throws {
    let store = PersistentStore<Entry>(suite: suite)
    var number = try store.load()?.number ?? 0
    let last = number + limit
    while number < last {
        number += 1
        say("BEGIN \(number)")
        if acknowledgesFirst { say("ACK \(number)") }
        do {
            try store.save(Entry(number))
            if number % 7 == 0 { suite.remove(["gone"]) }
            if number % 7 == 3 { suite[DefaultKey("gone", default: "")] = "soon" }
            if synchronizes { try suite.synchronize() }
        } catch {
            say("ERROR \(error)")
            if !carriesOn { exit(2) }
            continue
        }
        if !acknowledgesFirst { say("ACK \(number)") }
    }
}

/// Whether a fresh process finds the last acknowledged write, or the one after it.
func check(_ suite: DefaultsSuite, acknowledged: Int) throws {
    suite.onFailure = { error in
        // The tail of a write that a kill has cut off is told, and is no loss.
        if error.key != nil { fail("a value is damaged: \(error)") }
    }
    let entry = try PersistentStore<Entry>(suite: suite).load()
    let number = entry?.number ?? 0
    guard number >= acknowledged else { fail("lost: \(acknowledged) was acknowledged, \(number) is there") }
    guard entry.map({ $0 == Entry($0.number) }) ?? true else { fail("a mix of two writes") }
    // What is there can be written on.
    try PersistentStore<Entry>(suite: suite).save(Entry(number + 1))
    guard try PersistentStore<Entry>(suite: suite).load()?.number == number + 1 else { fail("not writable") }
}

/// Counts up in one-step updates beside others who do the same.
func count(_ suite: DefaultsSuite, times: Int) throws {
    let store = PersistentStore(DefaultKey("count", default: 0), suite: suite)
    let filler = DefaultKey("filler", default: "")
    for round in 0..<times {
        try store.update { $0 = ($0 ?? 0) + 1 }
        if round % 4 == 0 { suite[filler] = String(repeating: "x", count: 5_000 + round % 100) }
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    fail(
        "usage: torture write|sync|careless|carryon FILE [LIMIT] | check FILE ACKNOWLEDGED | count FILE TIMES | counted FILE"
    )
}
let durability: FileBackend.Durability = arguments[1] == "sync" ? .immediate : .process
let number = arguments.count > 3 ? Int(arguments[3]) ?? .max / 2 : .max / 2
do {
    let suite = try DefaultsSuite(file: URL(filePath: arguments[2]), durability: durability)
    switch arguments[1] {
    case "write", "sync":
        try write(suite, limit: number, acknowledgesFirst: false, carriesOn: false, synchronizes: false)
    case "careless": try write(suite, limit: number, acknowledgesFirst: true, carriesOn: false, synchronizes: false)
    case "carryon": try write(suite, limit: number, acknowledgesFirst: false, carriesOn: true, synchronizes: true)
    case "check": try check(suite, acknowledged: number)
    case "count": try count(suite, times: number)
    case "counted": say("\(suite[DefaultKey("count", default: 0)])")
    default: fail("unknown command")
    }
} catch {
    fail("ERROR \(error)")
}
