import Foundation

// Why not a benchmark package: google/swift-benchmark reads the clock around each call, which takes
// longer than a `get`. ordo-one/benchmark runs its subjects one after the other, but ratios require
// interleaving them.

/// The highest time that the library promises for a subject.
enum Goal {
    /// A multiple of the first subject.
    case ratio(Double)
    case nanoseconds(Double)
    /// The first subject plus a number of nanoseconds.
    case nanosecondsMore(Double)
}

/// Several ways to do the same thing, measured side by side. All are compared with the first one.
struct Comparison {
    private struct Subject {
        let name: String
        let goal: Goal?
        let duration: @Sendable (Int) -> Duration
    }
    private let title: String
    private let threads: Int
    private var subjects: [Subject] = []

    /// Creates a comparison in which each of several threads performs all calls.
    init(_ title: String, threads: Int = 1) {
        self.title = title
        self.threads = threads
    }

    /// Adds a subject.
    ///
    /// - Parameters:
    ///   - goal: The highest ratio to the first subject that the library promises.
    ///   - run: Performs `count` calls. It contains the loop, so that nothing is added to the
    ///     calls.
    mutating func add(_ name: String, goal: Double? = nil, run: @escaping @Sendable (_ count: Int) -> Void) {
        add(name, goal: goal.map(Goal.ratio)) { [threads] count in
            let start = ContinuousClock.now
            if threads == 1 { run(count) } else { onThreads(threads) { _ in run(count) } }
            return ContinuousClock.now - start
        }
    }

    /// Adds a subject that measures its own time, because it also does work that must not count.
    mutating func add(_ name: String, goal: Goal?, duration: @escaping @Sendable (_ count: Int) -> Duration) {
        subjects.append(Subject(name: name, goal: goal, duration: duration))
    }

    /// Measures the subjects alternately in several rounds, and prints the nanoseconds per call and
    /// the ratio to the first subject.
    ///
    /// A ratio is the median of the ratios of the rounds, so that a temporary slowdown of the
    /// machine has no effect. If there is an argument on the command line, runs only if the title
    /// begins with it.
    func run(rounds: Int = 11, batch: Duration = .milliseconds(20)) {
        guard title.hasPrefix(CommandLine.arguments.dropFirst().first ?? "") else { return }
        let counts = subjects.map { count(for: batch, of: $0) }
        let durations = (0..<rounds).map { _ in
            zip(subjects, counts).map { $0.duration($1) / .nanoseconds($1 * threads) }
        }
        print("\n" + row(title, "ns", "ratio", "goal"))
        for (index, subject) in subjects.enumerated() {
            let nanoseconds = durations.map { $0[index] }.median
            let ratio = durations.map { $0[index] / $0[0] }.median
            let goal: (text: String, isMet: Bool)? =
                switch subject.goal {
                case .ratio(let goal)?: ("\(goal)", ratio <= goal)
                case .nanoseconds(let goal)?: ("\(goal) ns", nanoseconds <= goal)
                case .nanosecondsMore(let goal)?:
                    ("first + \(goal) ns", nanoseconds <= durations.map { $0[0] }.median + goal)
                case nil: nil
                }
            print(
                row(
                    "  " + subject.name, String(format: "%.1f", nanoseconds), String(format: "%.2f", ratio),
                    goal.map { "≤ \($0.text)\($0.isMet ? "" : " ✗")" } ?? ""))
        }
    }

    private func count(for batch: Duration, of subject: Subject) -> Int {
        var count = 1
        // Measure twice, because the first run may find a cold cache.
        while subject.duration(count) < batch || subject.duration(count) < batch { count *= 2 }
        return count
    }
}

/// Runs `body` on several threads at once, with the number of the thread.
func onThreads(_ threads: Int, _ body: @escaping @Sendable (Int) -> Void) {
    // Use threads, because Dispatch and tasks never run more work at once than there are cores.
    let done = DispatchGroup()
    for index in 0..<threads {
        done.enter()
        Thread.detachNewThread {
            body(index)
            done.leave()
        }
    }
    done.wait()
}

/// Returns a line of the table.
func row(_ name: String, _ nanoseconds: String, _ ratio: String, _ goal: String) -> String {
    func space(_ width: Int, _ text: String) -> String { String(repeating: " ", count: max(0, width - text.count)) }
    return name + space(60, name) + space(10, nanoseconds) + nanoseconds + space(8, ratio) + ratio + "   " + goal
}

extension [Double] {
    fileprivate var median: Double { sorted()[count / 2] }
}

/// Keeps the value alive, so that the optimizer cannot remove the code that creates it.
@inline(never) @_optimize(none)
func blackHole(_ value: borrowing some Any) {}
