import Dispatch
import SettingsFile
import TypedDefaults

/// The time that a law may take, and the threads that it starts.
struct Trial: Sendable {
    /// When waiting ends.
    let deadline: DispatchTime

    /// Runs the check of a law.
    ///
    /// - Throws: A ``LawViolation``.
    static func verify(
        _ law: String, _ promise: String, within timeout: Duration, _ check: @escaping @Sendable (Trial) throws -> Void
    ) async throws {
        do { try await run(within: timeout, check) } catch {
            let outcome = (error as? BrokenPromise)?.outcome ?? "it threw: \(error)"
            throw LawViolation(law: law, promise: promise, outcome: outcome)
        }
    }

    /// Runs `check` on a thread of its own, because it may block.
    private static func run(within timeout: Duration, _ check: @escaping @Sendable (Trial) throws -> Void) async throws
    {
        await CheckLimit.acquire()
        defer { CheckLimit.release() }
        let trial = Trial(deadline: .now() + timeout.dispatchInterval)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let waiting = Locked<CheckedContinuation<Void, any Error>?>(continuation)
            let end = { @Sendable (result: Result<Void, any Error>) in
                waiting.withLock { $0.take() }?.resume(with: result)
            }
            trial.start { end(Result { try check(trial) }) }
            // Fires after the check's own timeouts, because their messages are more specific.
            DispatchQueue(label: "TypedDefaultsTesting deadline").asyncAfter(deadline: trial.deadline + .seconds(1)) {
                end(.failure(BrokenPromise("the check did not end within \(timeout)")))
            }
        }
    }

    /// Runs `body` on a thread of its own, with the standard suite of the current task.
    @discardableResult
    func start(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
        let hasEnded = DispatchSemaphore(value: 0)
        let body = DefaultsSuite.keepingStandard(body)
        // Each serial queue has a thread of its own.
        DispatchQueue(label: "TypedDefaultsTesting").async {
            body()
            hasEnded.signal()
        }
        return hasEnded
    }

    /// Runs `body` on several threads at once.
    ///
    /// - Throws: An error that one of them throws, or a violation if they take too long.
    func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failure = Locked<(any Error)?>(nil)
        let threads = (0..<count).map { index in
            start {
                do { try body(index) } catch { failure.withLock { $0 = $0 ?? error } }
            }
        }
        for thread in threads {
            try expect(thread.wait(timeout: deadline) == .success, "the check did not end")
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Repeats a write that had to wait too long, as on a busy machine. Nothing was stored.
    func retrying(_ write: () throws -> Void) throws {
        while true {
            do { return try write() } catch let error as DefaultsError where error.kind == .timedOut {
                try expect(.now() < deadline, "a writer did not get its turn")
            }
        }
    }

    /// Waits for an asynchronous function.
    func wait<Result: Sendable>(for body: @escaping @Sendable () async throws -> Result) throws -> Result {
        let result = Awaited<Swift.Result<Result, any Error>?>(nil)
        // Tests that block the threads of the usual priority must not take up the time of the law.
        Task(priority: .high) {
            do {
                let value = try await body()
                result.change { $0 = .success(value) }
            } catch {
                result.change { $0 = .failure(error) }
            }
        }
        try expect(result.wait(before: deadline) { $0 != nil }, "a closure of the test did not return")
        return try result.value!.get()
    }
}

/// Limits how many checks run at once. A test framework may start hundreds, and their threads would
/// wait for each other so long that they seem to be blocked.
private enum CheckLimit {
    private static let state = Locked<(free: Int, waiting: [CheckedContinuation<Void, Never>])>((4, []))

    static func acquire() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state -> Bool in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    static func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

/// A value that another thread waits for.
final class Awaited<Value: Sendable>: Sendable {
    private let state: Locked<Value>
    private let changed = DispatchSemaphore(value: 0)

    init(_ value: Value) { state = Locked(value) }

    var value: Value { state.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) {
        state.withLock { body(&$0) }
        changed.signal()
    }

    /// Returns whether the value became as expected before the deadline. Only one thread may wait.
    func wait(before deadline: DispatchTime, until isSo: (Value) -> Bool) -> Bool {
        while !state.withLock({ isSo($0) }) {
            if changed.wait(timeout: deadline) == .timedOut { return state.withLock { isSo($0) } }
        }
        return true
    }
}

extension Duration {
    var dispatchInterval: DispatchTimeInterval {
        .nanoseconds(Int(clamping: components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000))
    }
}
