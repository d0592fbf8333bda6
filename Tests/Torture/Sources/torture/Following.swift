import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

private let followed = DefaultKey("followed", default: 0)

/// Observes a number, and prints `OBSERVED` and each new value. Executes the commands on standard
/// input:
///
/// - `get`: prints `VALUE` and the number
/// - `load`: prints `VALUE` and the number, or `ERROR` and the reason
/// - `write`: stores another key
/// - `spin`: reads the number again and again for three seconds
func follow(_ suite: DefaultsSuite) throws {
    suite.onFailure = { say("FAILURE \($0)") }
    let token = suite.observe(followed) { change in say("OBSERVED \(change.newValue ?? 0)") }
    say("READY")
    var writes = 0
    while let line = readLine() {
        do {
            switch line {
            case "get": say("VALUE \(suite[followed])")
            case "load": say("VALUE \(try suite.read(followed))")
            case "spin":
                let end = ContinuousClock.now + .seconds(3)
                while .now < end { _ = suite[followed] }
                say("OK")
            case "write":
                writes += 1
                try UserDefault(DefaultKey("writes", default: 0), in: suite).store.save(writes)
                say("OK")
            default: fail("unknown line: \(line)")
            }
        } catch {
            say("ERROR \(error)")
        }
    }
    token.cancel()
}

/// Stores the number that another process follows, and flushes it.
func storeFollowed(_ suite: DefaultsSuite, _ number: Int) throws {
    try UserDefault(followed, in: suite).store.save(number)
    try suite.synchronize()
}
