import Dispatch
import Synchronization
import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// Saves from sixteen threads to a disk whose flushes fail at random, and checks after each save
/// that the disk has it.
func saveOnThreads(_ suite: DefaultsSuite, rounds: Int) {
    guard let symbol = dlsym(nil, "disk_holds") else { fail("run this with LD_PRELOAD=failingdisk.so") }
    let diskHolds = unsafeBitCast(symbol, to: (@convention(c) (UnsafePointer<CChar>) -> CInt).self)
    suite.onFailure = { _ in }
    let counts = Counts()
    let threads = DispatchGroup()
    for thread in 0..<16 {
        let store = UserDefault(DefaultKey("thread\(thread)", default: ""), in: suite).store
        DispatchQueue(label: "\(thread)").async(group: threads) {
            for round in 0..<rounds {
                let text = "\(thread) has saved \(round);"
                do {
                    // A long string, so that the file is compacted often.
                    try store.save(text + filler(4_000))
                    counts.acknowledged.add(1, ordering: .relaxed)
                    if diskHolds(text) == 0 { counts.lost.add(1, ordering: .relaxed) }
                } catch {
                    counts.refused.add(1, ordering: .relaxed)
                }
            }
        }
    }
    threads.wait()
    let (acknowledged, lost) = (counts.acknowledged.load(ordering: .relaxed), counts.lost.load(ordering: .relaxed))
    say(
        "\(acknowledged) saves acknowledged, \(counts.refused.load(ordering: .relaxed)) refused because a flush failed;"
            + " \(lost) of the acknowledged ones were not on the disk")
    if lost > 0 || acknowledged == 0 { exit(1) }
}

private final class Counts: Sendable {
    let acknowledged = Atomic(0)
    let refused = Atomic(0)
    let lost = Atomic(0)
}
