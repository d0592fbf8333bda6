import Foundation

// Why not a benchmark package: google/swift-benchmark reads the clock around each call, which takes
// longer than a `get`. ordo-one/benchmark runs its subjects one after the other, but ratios require
// interleaving them.

/// What a subject of a comparison is.
enum Role {
    case ours
    /// The least work that any implementation has to do.
    case limit
    case peer
}

/// The figure of one subject.
struct Figure {
    let name: String
    let role: Role
    let value: Double
}

/// What to measure, and the results.
@MainActor enum Run {
    /// Measures each row briefly, to show that it works.
    static var isShort = false
    /// Only the rows whose titles begin with this are measured.
    static var prefix = ""
    private static var isFirst = true

    /// Prints a row of a Markdown table for each form of ours, and how many times as long it takes
    /// as the limit and as each peer.
    static func add(_ title: String, unit: String, _ figures: [Figure]) {
        if isFirst { print("| | TypedDefaults | limit | others |\n|---|---|---|---|") }
        isFirst = false
        func text(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) + " " + unit }
        for ours in figures where ours.role == .ours {
            func compared(_ role: Role) -> String {
                figures.filter { $0.role == role }.map {
                    "\($0.name) \(text($0.value)), \(String(format: "%.3g", ours.value / $0.value)) ×"
                }.joined(separator: "; ")
            }
            print("| \(title): \(ours.name) | \(text(ours.value)) | \(compared(.limit)) | \(compared(.peer)) |")
        }
        // A reader of a pipe sees each row as it is measured.
        fflush(nil)
    }
}

/// Several ways to do the same thing, measured in turn.
struct Comparison {
    private struct Subject {
        let name: String
        let role: Role
        /// Performs calls and returns the figure.
        let measure: @Sendable (_ count: Int) -> Double
    }
    private var subjects: [Subject] = []

    /// Adds a subject whose calls are timed as one.
    ///
    /// - Parameter run: Performs `count` calls. It contains the loop, so that nothing is added to
    ///   the calls.
    mutating func add(_ role: Role, _ name: String, run: @escaping @Sendable (_ count: Int) -> Void) {
        addFigure(role, name) { count in Double(timed { run(count) }) / Double(count) }
    }

    /// Adds a subject whose calls are timed one by one.
    ///
    /// - Parameters:
    ///   - prepare: What comes before each call and does not count.
    ///   - call: The call. What it returns is released afterward and does not count.
    mutating func add<Prepared, Result>(
        _ role: Role, _ name: String, prepare: @escaping @Sendable (_ index: Int) -> Prepared,
        call: @escaping @Sendable (Prepared) -> Result
    ) {
        addFigure(role, name) { count in
            var sum = 0
            for index in 0..<count {
                let prepared = prepare(index)
                var result: Result?
                sum += timed { result = call(prepared) }
                withExtendedLifetime(result) {}
            }
            return Double(sum) / Double(count)
        }
    }

    /// Adds a subject that returns its figure.
    mutating func addFigure(_ role: Role, _ name: String, _ measure: @escaping @Sendable (_ count: Int) -> Double) {
        subjects.append(Subject(name: name, role: role, measure: measure))
    }

    /// Measures the subjects in turn in several rounds. A figure is the minimum of all rounds,
    /// which other work of the machine disturbs least.
    @MainActor fileprivate func run(_ title: String, unit: String, count: Int?, rounds: Int) {
        let counts = subjects.map { count ?? self.count(of: $0) }
        let figures = (0..<(Run.isShort ? 2 : rounds)).map { _ in zip(subjects, counts).map { $0.measure($1) } }
        Run.add(
            title, unit: unit,
            subjects.enumerated().map { number, subject in
                Figure(name: subject.name, role: subject.role, value: figures.map { $0[number] }.min() ?? .nan)
            })
    }

    /// Returns the number of calls that take 20 milliseconds.
    @MainActor private func count(of subject: Subject) -> Int {
        let batch = Run.isShort ? 1_000_000 : 20_000_000
        var count = 1
        func duration() -> Int {
            let start = now()
            _ = subject.measure(count)
            return now() - start
        }
        // Measure twice, because the first run may find a cold cache.
        while duration() < batch || duration() < batch { count *= 2 }
        return count
    }
}

/// Measures a row of the table.
///
/// - Parameters:
///   - count: The number of calls in a round; by default as many as take 20 milliseconds.
///   - add: Adds the subjects. It is called only if the row is to be measured.
@MainActor func compare(
    _ title: String, unit: String = "ns", count: Int? = nil, rounds: Int = 15,
    _ add: (inout Comparison) throws -> Void
) rethrows {
    guard title.hasPrefix(Run.prefix) else { return }
    var comparison = Comparison()
    try add(&comparison)
    comparison.run(title, unit: unit, count: count, rounds: rounds)
}

/// Returns the nanoseconds that a call takes.
@inline(never) func timed(_ body: () -> Void) -> Int {
    let start = now()
    body()
    return now() - start
}

/// Returns the nanoseconds of a clock.
func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Keeps the value alive, so that the optimizer cannot remove the code that creates it.
@inline(never) @_optimize(none)
func blackHole(_ value: borrowing some Any) {}
