import Synchronization
import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// Where the workers run: four threads with a suite in memory, three with a file, or two in each of
/// two processes with a file.
enum Form: String { case memory, threads, processes }

/// How the workers use the suite. All but the first have a planted fault.
enum Client: String {
    case careful
    /// Updates by reading and then writing.
    case inSteps = "in-steps"
    /// Returns the value that it read the time before.
    case cached
    /// Misses some of the changes that it observes.
    case deaf
}

/// The state that the processes share: some numbers, and the operations of the current round.
struct Board: @unchecked Sendable {
    /// The current round; negative after the last one.
    static let round = 0
    /// How many operations have begun, and how many have failed without an error for their caller.
    static let begun = 1, failures = 2
    /// How many changes the observers have received, and how many of them were wrong.
    static let changes = 3, faults = 4
    /// The last round that a worker has finished; one number for each.
    static let finished = 5
    /// The last value that an observer received; one number for each process and key.
    static let received = 9

    static let operationsPerWorker = 3
    private let numbers: UnsafeMutablePointer<Atomic<Int>>
    let operations: UnsafeMutablePointer<Operation>

    init(_ path: String) {
        // Memory that all processes share, at first full of zeros. It is never unmapped.
        let descriptor = open(path + ".board", O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, 4_096) == 0,
            let memory = mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else { fail("ERROR cannot share memory at \(path)") }
        close(descriptor)
        numbers = memory.bindMemory(to: Atomic<Int>.self, capacity: 16)
        operations = (memory + 1_024).bindMemory(to: Operation.self, capacity: 4 * Self.operationsPerWorker)
    }

    subscript(place: Int) -> Int {
        get { numbers[place].load(ordering: .sequentiallyConsistent) }
        nonmutating set { numbers[place].store(newValue, ordering: .sequentiallyConsistent) }
    }
    func increment(_ place: Int) { numbers[place].add(1, ordering: .relaxed) }
}

/// Lets workers make random operations at the same time, round by round, and checks that each round
/// is linearizable and that observers receive an unbroken chain of changes. If not, prints the
/// round and exits with an error.
func checkHistories(_ suite: DefaultsSuite, _ path: String, rounds: Int, _ form: Form, _ client: Client) throws {
    let board = Board(path)
    let workers = form == .threads ? 3 : 4
    let operations = UnsafeMutableBufferPointer(start: board.operations, count: workers * Board.operationsPerWorker)
    var processes: [pid_t] = []
    board[Board.round] = 1
    if form == .processes {
        processes = (0..<2).map { spawn(path, process: $0, client) }
    } else {
        startWorkers(suite, board, process: 0, 0..<workers, client)
    }
    var (start, end) = (try readBoth(suite), 0)
    var all: [Operation] = []
    var (count, concurrent, failed, stops, kills, cut) = (0, 0, 0, 0, 0, 0)

    func reject(_ reason: String) -> Never {
        say("\(reason) in round \(board[Board.round] - 1), from \(describe(state: start)) to \(describe(state: end))")
        let first = all.map(\.begin).min() ?? 0
        for operation in all.sorted(by: { $0.begin < $1.begin }) { say(operation.described(from: first)) }
        board[Board.round] = -1
        exit(1)
    }
    func waitForWorkers(except process: Int? = nil) {
        for worker in 0..<workers where worker / 2 != process {
            guard wait({ board[Board.finished + worker] == board[Board.round] }) else {
                reject("worker \(worker) hung")
            }
        }
    }

    waitForWorkers()
    for round in 2..<rounds + 2 {
        // Safe: no worker uses them between the rounds.
        for index in operations.indices { operations[index].begin = 0 }
        let begun = board[Board.begun]
        board[Board.round] = round
        var killed: Int?
        if form == .processes && round % 8 < 2 {
            let victim = Int.random(in: 0..<2)
            let moment = begun + .random(in: 1...operations.count)
            _ = wait { board[Board.begun] >= moment }
            if round % 8 == 0 {
                kill(processes[victim], SIGKILL)
                waitpid(processes[victim], nil, 0)
                killed = victim
                kills += 1
            } else {
                kill(processes[victim], SIGSTOP)
                usleep(.random(in: 0..<2_000))
                kill(processes[victim], SIGCONT)
                stops += 1
            }
        }
        waitForWorkers(except: killed)
        end = try readBoth(suite)
        all = operations.filter { $0.begin > 0 }
        let succeeded = all.filter { $0.result != Operation.failed }
        guard isLinearizable(succeeded, from: start, to: end) else { reject("not linearizable") }
        if let killed {
            for worker in [2 * killed, 2 * killed + 1] { board[Board.finished + worker] = 0 }
            processes[killed] = spawn(path, process: killed, client)
            waitForWorkers()
        }
        // Not after each round, because the changes of several rounds may arrive together.
        if round % 8 == 7 || round == rounds + 1 {
            for observer in 0..<(form == .processes ? 4 : 2) {
                let value = end >> (observer % 2 * 2) & 3
                guard wait({ board[Board.received + observer] == value }) else { reject("last value not observed") }
            }
        }
        guard board[Board.faults] == 0 else { reject("broken observation") }
        start = end
        count += all.count
        failed += all.count - succeeded.count
        cut += all.count { $0.end == .max }
        concurrent += all.count { one in
            all.contains { $0.worker != one.worker && $0.begin < one.end && one.begin < $0.end }
        }
    }
    board[Board.round] = -1
    for process in processes { waitpid(process, nil, 0) }
    let share = 100 * concurrent / count
    say(
        "\(form): \(count) operations in \(rounds) rounds, \(share) % beside others, \(failed) failed; "
            + "\(board[Board.changes]) changes observed; \(stops) stops, \(kills) kills that cut off \(cut)")
}

private func spawn(_ path: String, process: Int, _ client: Client) -> pid_t {
    let words = [CommandLine.arguments[0], "history", path, "\(process)", client.rawValue]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    guard posix_spawn(&child, words[0], nil, nil, &arguments, environ) == 0 else { fail("posix_spawn failed") }
    return child
}

/// Waits until a condition holds. Returns `false` if it does not within 20 seconds.
func wait(_ condition: () -> Bool) -> Bool {
    let deadline = now() + 20_000_000_000
    var tries = 0
    while !condition() {
        if now() > deadline { return false }
        tries += 1
        if tries < 100 { sched_yield() } else { usleep(20) }
    }
    return true
}

/// Returns the time in nanoseconds. All processes have the same clock.
func now() -> Int {
    // A memory barrier: earlier operations of the program take effect before it, and later ones
    // after it.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    defer { atomicMemoryFence(ordering: .sequentiallyConsistent) }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
