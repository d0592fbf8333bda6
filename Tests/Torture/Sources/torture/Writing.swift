import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// Writes without end, and says so before and after each write. With a limit it ends, and with `carriesOn` not even at an error.
func write(_ suite: DefaultsSuite, limit: Int, acknowledgesFirst: Bool, carriesOn: Bool, synchronizes: Bool) throws {
    let store = PersistentStore<Entry>(in: suite)
    guard var number = try begin(store, tries: carriesOn ? limit : 1) else { return }
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

/// The number that is there, asked for so often; nil if no answer came.
private func begin(_ store: PersistentStore<Entry>, tries: Int) throws -> Int? {
    for _ in 0..<tries {
        do { return try store.load()?.number ?? 0 } catch {
            say("ERROR \(error)")
            if tries == 1 { throw error }
        }
    }
    return nil
}

/// The number that a fresh process finds; that of the last acknowledged write or a later one, or it fails.
@discardableResult
func find(_ suite: DefaultsSuite, acknowledged: Int) throws -> Int {
    suite.onFailure = { error in
        // The tail of a write that a kill has cut off is told, and is no loss.
        if error.key != nil { fail("a value is damaged: \(error)") }
    }
    let entry = try PersistentStore<Entry>(in: suite).load()
    let number = entry?.number ?? 0
    guard number >= acknowledged else { fail("lost: \(acknowledged) was acknowledged, \(number) is there") }
    guard entry.map({ $0 == Entry($0.number) }) ?? true else { fail("a mix of two writes") }
    return number
}

/// Whether a fresh process finds the last acknowledged write, or the one after it, and can write on.
func check(_ suite: DefaultsSuite, acknowledged: Int) throws {
    let number = try find(suite, acknowledged: acknowledged)
    try PersistentStore<Entry>(in: suite).save(Entry(number + 1))
    guard try PersistentStore<Entry>(in: suite).load()?.number == number + 1 else { fail("not writable") }
}
