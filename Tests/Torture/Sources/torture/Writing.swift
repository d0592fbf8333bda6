import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// Writes up to `limit` times, and prints a line before and after each write. Continues after
/// errors if `continuesOnError` is true.
func write(_ suite: DefaultsSuite, limit: Int, acknowledgesFirst: Bool, continuesOnError: Bool, synchronizes: Bool)
    throws
{
    let store = PersistentStore<Entry>(in: suite)
    guard var number = try begin(store, tries: continuesOnError ? limit : 1) else { return }
    let last = number + limit
    while number < last {
        number += 1
        say("BEGIN \(number)")
        if acknowledgesFirst { say("ACK \(number)") }
        do {
            try store.save(Entry(number))
            if number % 7 == 0 { suite.remove(["gone"]) }
            if number % 7 == 3 { suite[DefaultKey("gone", default: "")] = "soon" }
            if !acknowledgesFirst { say("ACK \(number)") }
            // If this fails, other processes read the value anyway.
            if synchronizes { try suite.synchronize() }
        } catch {
            say("ERROR \(error)")
            if !continuesOnError { exit(2) }
        }
    }
}

/// Returns the stored number, or `nil` if every attempt to read it failed.
private func begin(_ store: PersistentStore<Entry>, tries: Int) throws -> Int? {
    for _ in 0..<tries {
        do { return try store.load()?.number ?? 0 } catch {
            say("ERROR \(error)")
            if tries == 1 { throw error }
        }
    }
    return nil
}

/// Returns the stored number. Exits with an error if it is older than the last acknowledged one, or
/// torn.
@discardableResult
func find(_ suite: DefaultsSuite, acknowledged: Int) throws -> Int {
    suite.onFailure = { error in
        // A killed write leaves an incomplete record, which is reported but is not a loss.
        if error.key != nil { fail("a value is damaged: \(error)") }
    }
    let entry = try PersistentStore<Entry>(in: suite).load()
    let number = entry?.number ?? 0
    guard number >= acknowledged else { fail("lost: \(acknowledged) was acknowledged, but \(number) is stored") }
    guard entry.map({ $0 == Entry($0.number) }) ?? true else { fail("a torn write") }
    return number
}

/// Checks that the file holds the last acknowledged write or a later one, and that it can be
/// written.
func check(_ suite: DefaultsSuite, acknowledged: Int) throws {
    let number = try find(suite, acknowledged: acknowledged)
    try PersistentStore<Entry>(in: suite).save(Entry(number + 1))
    guard try PersistentStore<Entry>(in: suite).load()?.number == number + 1 else { fail("not writable") }
}
