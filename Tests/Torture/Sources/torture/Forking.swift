import Dispatch
import Synchronization
import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// Swift hides `fork`.
private let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)

private func waitForExit(of child: pid_t) -> Int32 {
    var status: Int32 = -1
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return status
}

/// Four threads that update one number, and write values that make compactions due.
private final class Writers: Sendable {
    private let isOver = Flag()
    private let threads = DispatchGroup()
    let (updates, failures) = (Number(), Number())

    /// Returns when all of them are writing.
    init(_ suite: DefaultsSuite) {
        let busy = Number()
        for thread in 0..<4 {
            DispatchQueue(label: "\(thread)").async(group: threads) { [self] in
                let count = UserDefault(DefaultKey("count", default: 0), in: suite).store
                let filler = UserDefault(DefaultKey("filler-\(thread)", default: ""), in: suite).store
                var round = 0
                while !isOver.value.load(ordering: .relaxed) {
                    round += 1
                    do {
                        try count.updateStored { $0 = ($0 ?? 0) + 1 }
                        updates.value.add(1, ordering: .relaxed)
                        if round % 10 == 0 { try filler.save(String(repeating: "x", count: 5_000 + round % 1_000)) }
                    } catch {
                        failures.value.add(1, ordering: .relaxed)
                    }
                    if round == 50 { busy.value.add(1, ordering: .relaxed) }
                }
            }
        }
        while busy.value.load(ordering: .relaxed) < 4 { usleep(1_000) }
    }

    func end() {
        isOver.value.store(true, ordering: .relaxed)
        threads.wait()
    }
}

/// Forks a process `times` times while four of its threads write. The children exit, and must
/// neither hang nor change the file. The parent's updates must all be there.
func forkBesideWriters(_ suite: DefaultsSuite, times: Int) throws {
    let writers = Writers(suite)
    var children: [pid_t] = []
    for _ in 0..<times {
        usleep(UInt32.random(in: 0..<2_000))
        let child = fork()
        if child == 0 {
            // The alarm kills a child that hangs.
            signal(SIGALRM, SIG_DFL)
            alarm(10)
            usleep(UInt32.random(in: 0..<5_000))
            exit(0)
        }
        guard child > 0 else { fail("fork: \(errno)") }
        children.append(child)
        if children.count == 8, waitForExit(of: children.removeFirst()) != 0 { fail("a child hung") }
    }
    for child in children where waitForExit(of: child) != 0 { fail("a child hung") }
    writers.end()
    let (updates, failures) = (
        writers.updates.value.load(ordering: .relaxed), writers.failures.value.load(ordering: .relaxed)
    )
    let stored = try UserDefault(DefaultKey("count", default: 0), in: suite).store.load() ?? 0
    say("\(times) forks beside 4 writers: \(updates) updates came to \(stored), \(failures) failed")
    if updates != stored || failures > 0 { fail("updates were lost") }
}

/// Updates a number in a process without other threads, and in its child. The sum must be exact.
func updateInChild(_ suite: DefaultsSuite, times: Int) throws {
    let store = UserDefault(DefaultKey("count", default: 0), in: suite).store
    try store.save(0)
    let child = fork()
    guard child >= 0 else { fail("fork: \(errno)") }
    for _ in 0..<times { try store.updateStored { $0 = ($0 ?? 0) + 1 } }
    if child == 0 { exit(0) }
    let status = waitForExit(of: child)
    let sum = try store.load() ?? 0
    say("2 x \(times) updates by a process and its child came to \(sum)")
    if status != 0 || sum != 2 * times { fail("updates were lost") }
}

/// Updates a number from several threads, each of which holds the lock for a millisecond. No update
/// may time out.
func updateOnThreads(_ suite: DefaultsSuite, threads: Int, seconds: Int) {
    let store = UserDefault(DefaultKey("count", default: 0), in: suite).store
    let end = milliseconds() + 1_000 * seconds
    let (count, timeouts, longest) = (Number(), Number(), Number())
    let group = DispatchGroup()
    for thread in 0..<threads {
        DispatchQueue(label: "\(thread)").async(group: group) {
            while milliseconds() < end {
                let start = milliseconds()
                do {
                    try store.updateStored {
                        longest.value.max(milliseconds() - start, ordering: .relaxed)
                        $0 = ($0 ?? 0) + 1
                        usleep(1_000)
                    }
                    count.value.add(1, ordering: .relaxed)
                } catch {
                    timeouts.value.add(1, ordering: .relaxed)
                }
            }
        }
    }
    group.wait()
    let (updates, refused) = (count.value.load(ordering: .relaxed), timeouts.value.load(ordering: .relaxed))
    let wait = longest.value.load(ordering: .relaxed)
    say("\(updates) updates by \(threads) threads, \(refused) timed out, the longest wait \(wait) ms")
    if refused > 0 || suite[DefaultKey("count", default: 0)] != updates { exit(1) }
}

private final class Flag: Sendable { let value = Atomic(false) }
private final class Number: Sendable { let value = Atomic(0) }

func milliseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
}
