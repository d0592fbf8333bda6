import Dispatch
import Synchronization
import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

private typealias Fork = @convention(c) () -> pid_t

/// Returns `fork` or `_Fork`. Swift hides the first and does not declare the second.
private func call(named name: String) -> Fork {
    guard let symbol = dlsym(nil, name) else { fail("\(name) is not available") }
    return unsafeBitCast(symbol, to: Fork.self)
}

/// Forks a process `count` times while four threads read and write. Each child reads and writes
/// too, and must exit.
///
/// - Parameter usesHandlers: Whether to call `fork`. False calls `_Fork`, which runs no handlers,
///   as a control.
func forkBesideThreads(_ suite: DefaultsSuite, count: Int, usesHandlers: Bool) {
    let fork = call(named: usesHandlers ? "fork" : "_Fork")
    let entry = PersistentStore<Entry>(in: suite)
    let numbers = (0..<4).map { UserDefault(DefaultKey("number-\($0)", default: 0), in: suite).store }
    let memory = AnyStore(InMemoryStore(0))
    @discardableResult
    func useAll(_ round: Int) -> Bool {
        do {
            _ = entry.get()
            try entry.save(Entry(round))
            for number in numbers { try number.updateStored { $0 = ($0 ?? 0) + 1 } }
            memory.set(round)
            return try memory.get() == round && entry.load() != nil
        } catch {
            return false
        }
    }
    let isOver = Flag()
    let threads = DispatchGroup()
    // Use everything once before the first fork: the Swift runtime has locks of its own, which a
    // thread may hold while it uses a type for the first time.
    useAll(0)
    let busy = Number()
    for thread in 0..<4 {
        DispatchQueue(label: "\(thread)").async(group: threads) {
            var round = 0
            while !isOver.value.load(ordering: .relaxed) {
                round += 1
                numbers[thread].set(round)
                if round % 50 == 0 { entry.set(Entry(round)) }
                _ = entry.get()
                _ = suite[DefaultKey("number-\((thread + 1) % 4)", default: 0)]
                memory.set(round)
                if round == 50 { busy.value.add(1, ordering: .relaxed) }
            }
        }
    }
    while busy.value.load(ordering: .relaxed) < 4 { usleep(1_000) }
    var (hung, failed, longest) = (0, 0, 0)
    for round in 0..<count {
        usleep(UInt32.random(in: 0..<2_000))
        let start = milliseconds()
        let child = fork()
        if child == 0 {
            // The alarm kills a child that hangs. It is longer than the timeout of a writer.
            signal(SIGALRM, SIG_DFL)
            alarm(10)
            _exit(useAll(round) ? 0 : 1)
        }
        guard child > 0 else { fail("fork: \(errno)") }
        var status: Int32 = -1
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        longest = max(longest, milliseconds() - start)
        if status & 0x7F == SIGALRM { hung += 1 } else if status != 0 { failed += 1 }
        // One hanging child is enough for the control, and each takes ten seconds.
        if !usesHandlers, hung + failed > 0 { break }
    }
    isOver.value.store(true, ordering: .relaxed)
    threads.wait()
    say("\(count) forks beside 4 threads: \(hung) children hung, \(failed) failed, the longest took \(longest) ms")
    if hung + failed > 0 { fail("children of a process with threads cannot use the suite") }
}

/// Updates a number in a process and in its child by `_Fork`. The sum must be exact.
func updateAcrossRawFork(_ suite: DefaultsSuite, times: Int) throws {
    let fork = call(named: "_Fork")
    let store = UserDefault(DefaultKey("count", default: 0), in: suite).store
    try store.save(0)
    let child = fork()
    guard child >= 0 else { fail("_Fork: \(errno)") }
    for _ in 0..<times { try store.updateStored { $0 = ($0 ?? 0) + 1 } }
    if child == 0 { _exit(0) }
    var status: Int32 = -1
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    let sum = try store.load() ?? 0
    say("2 x \(times) updates by a process and its child by _Fork came to \(sum)")
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
