import NIOConcurrencyHelpers
import NIOCore
public import TypedDefaults

// Committing
// ==========
//
// A commit is one transaction. It compares the revisions of all keys that the commit depends on,
// and that of the key of this writer. If all are unchanged, it puts the edits, and a new number
// under the key of the writer.
//
// An answer can be lost. Then the same transaction is sent again, to the next member, and one of
// these is true:
//
// - It succeeds. The first attempt was not stored, and cannot be later, because the key of the
//   writer has changed.
// - It fails, and the key of the writer has the number of this commit: the first one was stored.
// - It fails, and the key of the writer has an older number: another machine was faster. The first
//   attempt may still be under way, and could succeed if a key that it expects to be missing has
//   been added and is removed. So `settle` changes the key of the writer.
//
// If there is no answer in time, the outcome is unknown, unless the watch has delivered the commit.
// The key of a writer is under a lease of a day, so that etcd removes the keys of processes that
// have ended. A missing key says nothing about a commit.

extension EtcdBackend {
    /// How long the key of a writer stays after its last commit, in seconds.
    private static let leaseTime = 86_400

    /// Begins to note which keys other machines change.
    public func beginWrite() throws(DefaultsError) {
        try checkProcess()
        try Self.checkThread()
        try checkIsOpen(state.withLockedValue { $0.isClosed })
        change { $0.mirror.beginWrite() }
    }

    /// Ends that.
    public func endWrite() {
        // In a child, a thread that held the lock may be missing.
        guard Forks.count == forks else { return }
        change { $0.mirror.endWrite() }
    }

    /// Stores the edits unless what the commit depends on has changed since the write began.
    public func commit(_ commit: BackendCommit) throws(DefaultsError) -> BackendCommit.Outcome {
        try checkProcess()
        let edits = commit.edits.map { (key: Array($0.key.utf8), json: $0.value.map { Array($0.json()) }) }
        let (edited, reads) = (edits.map(\.key), commit.reads?.map { Array($0.utf8) })
        let id = Array(String(UInt64.random(in: .min ... .max), radix: 36).utf8)
        let (comparisons, writerRevision) = change { state in
            (state.mirror.comparisons(edited: edited, reads: reads), state.mirror.writerRevision)
        }
        guard let comparisons else {
            change { $0.statistics.conflicts += 1 }
            return .changedMeanwhile
        }
        let attempt = Attempt(
            id: id, edited: edited, reads: reads, writerRevision: writerRevision,
            key: commit.edits.count == 1 ? commit.edits[0].key : nil,
            deadline: .now + configuration.writeTimeout)
        var transaction = Transaction(compare: comparisons, success: [], failure: [])
        if !commit.edits.isEmpty {
            transaction.compare.append(compareWriter(with: writerRevision))
            transaction.success = edits.map { key, json in
                let name = base64(names.value(key))
                return json.map { .init(request_put: .init(key: name, value: base64($0))) }
                    ?? .init(request_delete_range: .init(key: name))
            }
            change { $0.mirror.beginCommit(id) }
        }
        // The key that has changed last shows how far the mirror must come.
        let newest = RangeRequest(
            key: base64(names.start), range_end: base64(names.end), limit: "1", sort_order: "DESCEND",
            sort_target: "MOD", keys_only: true)
        transaction.failure = [readWriter, .init(request_range: newest)]
        do throws(DefaultsError) {
            guard let revision = try send(transaction, attempt) else {
                change { _ = $0.mirror.endCommit(id) }
                return .changedMeanwhile
            }
            // A commit without edits changes nothing, and the mirror was found to be current. The
            // revision may be that of another suite.
            if !edits.isEmpty { wait(for: revision, until: attempt.deadline) }
            let generation = change { state in
                // The suite and its observers have this commit already, so an event for it that
                // comes later must change nothing, or count as a change by others.
                if !edits.isEmpty { state.mirror.overlay(edits, of: id, at: revision) }
                return state.mirror.endCommit(id)
            }
            return .committed(generation: generation)
        } catch {
            // The watch may have delivered it.
            guard let generation = change({ $0.mirror.endCommit(id) }) else { throw error }
            return .committed(generation: generation)
        }
    }

    private struct Attempt {
        let id: [UInt8]
        let edited: [EtcdMirror.Key]
        let reads: [EtcdMirror.Key]?
        let writerRevision: Int64
        /// The key for messages.
        let key: String?
        let deadline: ContinuousClock.Instant
        /// Whether an attempt has had no answer, so that it may be stored.
        var isUncertain = false
        var failures = 0
    }

    private func compareWriter(with revision: Int64) -> Comparison {
        Comparison(key: base64(names.writer), mod_revision: "\(revision)")
    }
    private var readWriter: Operation { Operation(request_range: RangeRequest(key: base64(names.writer))) }
    private func putWriter(_ id: [UInt8], lease: String?) -> Operation {
        Operation(request_put: .init(key: base64(names.writer), value: base64(id), lease: lease))
    }

    /// Sends a transaction until its outcome is known.
    ///
    /// - Returns: The revision that stored it; `nil` if another machine was faster.
    private func send(_ transaction: Transaction, _ attempt: Attempt) throws(DefaultsError) -> Int64? {
        var attempt = attempt
        let isWriting = !transaction.success.isEmpty
        let id = attempt.id
        let answer = try call(&attempt, isWriting: isWriting) { lease in
            var transaction = transaction
            if isWriting { transaction.success.append(putWriter(id, lease: lease)) }
            return transaction
        }
        // The cluster was restored from a backup, and no heartbeat has noticed it yet.
        if answer.header.cluster_id != state.withLockedValue({ $0.mirror.cluster }) {
            try? resync(until: attempt.deadline)
        }
        if answer.succeeded == true {
            if isWriting { change { $0.mirror.writerRevision = answer.header.number } }
            return answer.header.number
        }
        let found = answer.found(by: 0)
        change { $0.mirror.writerRevision = found?.number ?? 0 }
        if let found, found.valueBytes == id {
            change { $0.statistics.resolved += 1 }
            return found.number
        }
        if isWriting, attempt.isUncertain, let stored = try settle(&attempt) { return stored }
        change { $0.statistics.conflicts += 1 }
        // Otherwise only the key of this writer has changed, and it is known now.
        if !isWriting || found?.number ?? 0 == attempt.writerRevision {
            waitForNews(answer.found(by: 1)?.number ?? 0, attempt)
        }
        return nil
    }

    /// Makes sure that no attempt without an answer is stored later.
    ///
    /// - Returns: The revision that stored one; `nil` if none is.
    private func settle(_ attempt: inout Attempt) throws(DefaultsError) -> Int64? {
        let (id, writerRevision) = (attempt.id + "-".utf8, attempt.writerRevision)
        let answer = try call(&attempt, isWriting: true) { lease in
            Transaction(
                compare: [compareWriter(with: writerRevision)], success: [putWriter(id, lease: lease)],
                failure: [readWriter])
        }
        if answer.succeeded == true {
            change { state in
                state.statistics.settled += 1
                state.mirror.writerRevision = answer.header.number
            }
            return nil
        }
        let found = answer.found(by: 0)
        change { $0.mirror.writerRevision = found?.number ?? 0 }
        switch found?.valueBytes {
        case attempt.id:
            change { $0.statistics.resolved += 1 }
            return found!.number
        case id: return nil
        default: throw unknownOutcome(attempt)
        }
    }

    private func unknownOutcome(_ attempt: Attempt) -> DefaultsError {
        DefaultsError(
            .unknownOutcome, key: attempt.key, reason: "etcd did not answer, so the change may be stored or not")
    }

    /// Makes a call until there is an answer, at one member after the other.
    private func call(
        _ attempt: inout Attempt, isWriting: Bool, _ transaction: (_ lease: String?) -> Transaction
    ) throws(DefaultsError) -> TransactionAnswer {
        while true {
            let member = cluster.member
            do throws(CallError) {
                let lease = isWriting ? try lease(at: member) : nil
                if isWriting, state.withLockedValue({ $0.watch.stream == nil }) {
                    // The cluster may be without a majority. A request that only reads finds out,
                    // and leaves no doubt about what is stored.
                    try isAnswering(member)
                }
                do throws(CallError) {
                    let transaction = transaction(lease)
                    let answer: TransactionAnswer = try answer(
                        to: cluster.call(Method.transaction, transaction, at: member))
                    // Each operation has a response, and only a check has no operations.
                    let isCheck = answer.succeeded == true && transaction.success.isEmpty
                    guard isCheck || answer.responses != nil else { throw .noAnswer("no responses") }
                    return answer
                } catch {
                    if isWriting, !error.isRefusal, error.wasSent {
                        attempt.isUncertain = true
                        change { $0.statistics.lostAnswers += 1 }
                    }
                    throw error
                }
            } catch {
                if error.hasLostLease {
                    change { $0.lease = nil }
                } else if error.isRefusal {
                    throw attempt.isUncertain ? unknownOutcome(attempt) : error.forUser(key: attempt.key)
                } else {
                    cluster.leave(member)
                }
                attempt.failures += 1
                guard ContinuousClock.now < attempt.deadline else {
                    throw attempt.isUncertain ? unknownOutcome(attempt) : error.forUser(key: attempt.key)
                }
                pause(attempt.failures)
            }
        }
    }

    /// Returns the lease of the key of this writer, with at least half of its time left.
    private func lease(at member: Int) throws(CallError) -> String {
        if let lease = state.withLockedValue({ $0.lease }), lease.renewal > .now { return lease.id }
        let now = ContinuousClock.now
        let lease: Lease = try answer(
            to: cluster.call(Method.grant, LeaseGrant(TTL: "\(Self.leaseTime)"), at: member))
        change { $0.lease = (lease.ID, now + .seconds(Self.leaseTime / 2)) }
        return lease.ID
    }

    private func isAnswering(_ member: Int) throws(CallError) {
        let _: RangeAnswer = try answer(
            to: cluster.call(Method.range, RangeRequest(key: base64(names.writer)), at: member))
    }

    private func answer<Answer: Sendable>(to future: EventLoopFuture<Answer>) throws(CallError) -> Answer {
        do { return try future.wait() } catch { throw error as? CallError ?? .noAnswer("\(error)") }
    }

    /// Waits until the mirror shows what made a commit fail.
    private func waitForNews(_ newest: Int64, _ attempt: Attempt) {
        let (revision, isExplained) = state.withLockedValue { state in
            (state.mirror.revision, state.mirror.comparisons(edited: attempt.edited, reads: attempt.reads) == nil)
        }
        if newest > revision {
            wait(for: newest, until: attempt.deadline)
        } else if !isExplained {
            // A removal by a program other than this library changes no key that still exists.
            try? resync(until: attempt.deadline)
        }
    }
}
