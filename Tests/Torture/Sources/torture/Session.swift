import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Executes the commands on standard input with suites on a file, and answers each with a line.
///
/// - `open SUITE process|immediate`, `close SUITE`
/// - `set SUITE KEY LENGTH`: stores a text of that length
/// - `get SUITE KEY`: answers with the length of the text, or `OK 0`
/// - `sync SUITE`
///
/// An answer is `OK`, or `ERROR` and the reason. Failures that no caller gets are printed as
/// `FAILURE` and the reason, on a line of their own.
func runSession(_ file: URL) throws {
    var suites: [String: DefaultsSuite] = [:]
    while let line = readLine() {
        let words = line.split(separator: " ").map(String.init)
        do {
            switch words.first {
            case "open":
                let suite = try DefaultsSuite(file: file, durability: words[2] == "immediate" ? .immediate : .process)
                suite.onFailure = { say("FAILURE \($0)") }
                suites[words[1]] = suite
                say("OK")
            case "close":
                suites[words[1]] = nil
                say("OK")
            case "sync":
                try suites[words[1]]!.synchronize()
                say("OK")
            case "set":
                try store(words[2], in: suites[words[1]]!).save(filler(Int(words[3])!))
                say("OK")
            case "get":
                say("OK \(try store(words[2], in: suites[words[1]]!).load()?.utf8.count ?? 0)")
            default:
                fail("unknown line: \(line)")
            }
        } catch {
            say("ERROR \(error)")
        }
    }
}

private func store(_ key: String, in suite: DefaultsSuite) -> AnyStore<String> {
    UserDefault(DefaultKey(key, default: ""), in: suite).store
}
