import SeveralKeys
import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#endif

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    fail(
        """
        usage: torture write|sync|careless|continue FILE [LIMIT]
               torture check|find FILE ACKNOWLEDGED
               torture count|count-in-steps FILE TIMES
               torture counted|cycles|cycles-kept FILE
               torture flushers|flushers-careless FILE ROUNDS
               torture migrate-begin|migrate|migrate-apart|migrate-unchecked|check-migration FILE
               torture move-begin|move|move-apart|check-move FILE 0|1
               torture session FILE
               torture keys MEMORY
               torture follow FILE|NAME
               torture store FILE NUMBER
               torture histories FILE ROUNDS memory|threads|processes careful|in-steps|cached|deaf
               torture history FILE PROCESS careful|in-steps|cached|deaf
        """)
}
let path = arguments[2]
let durability: DefaultsSuite.Durability = ["sync", "flushers"].contains(arguments[1]) ? .immediate : .process
let number = arguments.count > 3 ? Int(arguments[3]) ?? .max / 2 : .max / 2
do {
    if arguments[1] == "keys" {
        let wrong = try await wrongCallsWithSeveralKeys()
        guard wrong.isEmpty else { fail("wrong: \(wrong.joined(separator: ", "))") }
        exit(0)
    }
    if arguments[1] == "session" {
        try runSession(URL(filePath: path))
        exit(0)
    }
    let suite =
        try path.contains("/")
        ? DefaultsSuite(file: URL(filePath: path), durability: durability) : DefaultsSuite(name: path)
    switch arguments[1] {
    case "write", "sync":
        try write(suite, limit: number, acknowledgesFirst: false, continuesOnError: false, synchronizes: false)
    case "careless":
        try write(suite, limit: number, acknowledgesFirst: true, continuesOnError: false, synchronizes: false)
    case "continue":
        try write(suite, limit: number, acknowledgesFirst: false, continuesOnError: true, synchronizes: true)
    case "check": try check(suite, acknowledged: number)
    case "find": say("\(try find(suite, acknowledged: number))")
    case "count", "count-in-steps": try count(suite, times: number, inOneStep: arguments[1] == "count")
    case "counted": say("\(suite[DefaultKey("count", default: 0)])")
    case "cycles", "cycles-kept": try cycle(path, keeps: arguments[1] == "cycles-kept")
    case "flushers", "flushers-careless": saveOnThreads(suite, rounds: number)
    case "follow": try follow(suite)
    case "store": try storeFollowed(suite, number)
    case "histories":
        let form = Form(rawValue: arguments[4])!
        try checkHistories(
            form == .memory ? .inMemory() : suite, path, rounds: number, form, Client(rawValue: arguments[5])!)
    case "history": workInProcess(suite, path, process: number, Client(rawValue: arguments[4])!)
    case "migrate-begin": try beginMigration(suite)
    case "migrate", "migrate-apart", "migrate-unchecked": try migrate(suite, Migrating(rawValue: arguments[1])!)
    case "check-migration": try checkMigration(suite)
    case "move-begin": try Move(suite, path: path, hasValues: number == 1).begin()
    case "move": try Move(suite, path: path, hasValues: number == 1).run()
    case "move-apart": try Move(suite, path: path, hasValues: number == 1).runCarelessly()
    case "check-move": try Move(suite, path: path, hasValues: number == 1).check()
    default: fail("unknown command")
    }
} catch {
    fail("ERROR \(error)")
}
