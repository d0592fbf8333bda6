import Foundation

// Not a benchmark package: google/swift-benchmark reads the clock around each single call, which takes longer than a `get`, and
// ordo-one/benchmark runs its subjects one after the other and hands the results to a tool of its own. Ratios need them interleaved.

/// The most that the library promises a subject to take.
enum Goal {
    /// So many times the first subject.
    case ratio(Double)
    /// So many nanoseconds.
    case nanoseconds(Double)
    /// The first subject, and so many nanoseconds.
    case nanosecondsMore(Double)
}

/// Several ways to do one thing, measured side by side. The first that is added is what the others are compared with.
struct Comparison {
    private struct Subject {
        let name: String
        let goal: Goal?
        let duration: @Sendable (Int) -> Duration
    }
    private let title: String
    private let threads: Int
    private var subjects: [Subject] = []

    /// Creates a comparison of what so many threads do at once, each of them all of it.
    init(_ title: String, threads: Int = 1) {
        self.title = title
        self.threads = threads
    }

    /// Adds a subject.
    ///
    /// - Parameters:
    ///   - goal: The highest ratio to the first subject that the library promises.
    ///   - run: Does it that many times. The loop is the subject's own, so that nothing stands between loop and call.
    mutating func add(_ name: String, goal: Double? = nil, run: @escaping @Sendable (_ count: Int) -> Void) {
        add(name, goal: goal.map(Goal.ratio)) { [threads] count in
            let start = ContinuousClock.now
            if threads == 1 { run(count) } else { onThreads(threads) { _ in run(count) } }
            return ContinuousClock.now - start
        }
    }

    /// Adds a subject that tells how long that many took, since what it does in between is not to count.
    mutating func add(_ name: String, goal: Goal?, duration: @escaping @Sendable (_ count: Int) -> Duration) {
        subjects.append(Subject(name: name, goal: goal, duration: duration))
    }

    /// Measures the subjects in turn, over several rounds, and prints each one's nanoseconds per call and its ratio to the first.
    ///
    /// A ratio is the median of the ratios of single rounds, so that a machine that slows down for a while does not count.
    /// With an argument on the command line, only if the title begins with that.
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
        // Twice, since the first may meet a cold cache.
        while subject.duration(count) < batch || subject.duration(count) < batch { count *= 2 }
        return count
    }
}

/// Runs `body` on that many threads at once, with the number of each.
func onThreads(_ threads: Int, _ body: @escaping @Sendable (Int) -> Void) {
    // Threads, since Dispatch and tasks never run more at once than there are cores.
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

/// A line of a table.
func row(_ name: String, _ nanoseconds: String, _ ratio: String, _ goal: String) -> String {
    func space(_ width: Int, _ text: String) -> String { String(repeating: " ", count: max(0, width - text.count)) }
    return name + space(60, name) + space(10, nanoseconds) + nanoseconds + space(8, ratio) + ratio + "   " + goal
}

extension [Double] {
    fileprivate var median: Double { sorted()[count / 2] }
}

/// Keeps the value alive, so that the optimiser cannot leave out what made it.
@inline(never) @_optimize(none)
func blackHole(_ value: borrowing some Any) {}
