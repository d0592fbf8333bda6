import TypedDefaults

/// Increments a number while other processes do the same, either in one step or by reading and then
/// writing, which loses updates.
func count(_ suite: DefaultsSuite, times: Int, inOneStep: Bool) throws {
    let store = UserDefault(DefaultKey("count", default: 0), in: suite).store
    let key = DefaultKey("filler", default: "")
    for round in 0..<times {
        if inOneStep {
            try store.updateStored { $0 = ($0 ?? 0) + 1 }
        } else {
            try store.save((store.load() ?? 0) + 1)
        }
        if round % 4 == 0 { suite[key] = filler(40_000 + round % 100) }
    }
}
