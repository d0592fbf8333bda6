import NIOConcurrencyHelpers
import NIOCore
public import TypedDefaults

// Committing
// ==========
//
// A commit is one transaction. It compares the number of the suite with the one that the write
// began with, and the revisions of the keys that it edits, which other programs may have changed.
// If all are unchanged, it puts the edits and a token of its own under `<prefix>rev`, which moves
// the number. The numbers are revisions of the cluster, so none comes back.
//
// An answer can be lost. Then the same transaction is sent again, to the next member, and one of
// these is true:
//
// - It succeeds. The first attempt was not stored, and cannot be later: the number has moved.
// - It fails, and the number has moved. The versions of `<prefix>rev` are read back to the number
//   that the write began with. If one has the token, the first attempt was stored; else it was not,
//   and cannot be later.
// - It fails, and the number has not moved, because another program has changed an edited key. The
//   first attempt may still arrive and succeed, if that key was missing and is removed again. So
//   the number is moved, which refuses it.
//
// If there is no answer in time, or the versions were compacted, the outcome is unknown, unless the
// watch has delivered the token.

extension EtcdBackend {
    /// Stores the edits unless another machine has committed since the generation.
    public func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
        let edits = edits.map { (key: Array($0.key.utf8), json: $0.value.map { Array($0.json()) }) }
        let token = Array(String(UInt64.random(in: .min ... .max), radix: 36).utf8)
        var attempt = Attempt(
            token: token, key: edits.count == 1 ? String(decoding: edits[0].key, as: UTF8.self) : nil,
            deadline: .now + configuration.writeTimeout)
        let over = generation ?? self.generation!
        var new: [(key: EtcdMirror.Key, json: [UInt8]?)] = []
        let comparisons = change { state in
            attempt.begin = state.mirror.number
            // What is stored already is only compared.
            new = edits.filter { state.mirror.entries[$0.key]?.json != $0.json }
            let comparisons = state.mirror.comparisons(edited: edits.map(\.key), over: over)
            if comparisons != nil, !new.isEmpty { state.mirror.beginCommit(token) }
            if comparisons == nil { state.statistics.conflicts += 1 }
            return comparisons
        }
        guard let comparisons else { return .changedMeanwhile }
        // The key that has changed last shows how far the mirror must come.
        let newest = RangeRequest(
            key: base64(names.rev), range_end: base64(names.valuesEnd), limit: "1", sort_order: "DESCEND",
            sort_target: "MOD", keys_only: true)
        var transaction = Transaction(
            compare: comparisons, success: [], failure: [readNumber(), .init(request_range: newest)])
        if !new.isEmpty {
            transaction.success = new.map { key, json in
                let name = base64(names.value(key))
                return json.map { .init(request_put: .init(key: name, value: base64($0))) }
                    ?? .init(request_delete_range: .init(key: name))
            }
            transaction.success.append(moveNumber(token))
        }
        let isWriting = !new.isEmpty
        do throws(DefaultsError) {
            guard let revision = try send(transaction, &attempt) else {
                change { state in
                    _ = state.mirror.endCommit(token)
                    state.statistics.conflicts += 1
                }
                waitForNews(attempt, edits.map(\.key), over)
                return .changedMeanwhile
            }
            return .committed(generation: isWriting ? change { $0.mirror.endCommit(token, new, at: revision) } : over)
        } catch {
            // The watch may have delivered it.
            guard let generation = change({ $0.mirror.endCommit(token) }) else { throw error }
            return .committed(generation: generation)
        }
    }

    private struct Attempt {
        let token: [UInt8]
        /// The key for messages.
        let key: String?
        let deadline: ContinuousClock.Instant
        /// The number that the suite had when the write began.
        var begin: Int64 = 0
        /// Whether an attempt has had no answer, so that it may be stored.
        var isUncertain = false
        /// The revision that made the attempt fail, as far as that is known.
        var newest: Int64 = 0
    }

    private func readNumber(before revision: Int64? = nil) -> Operation {
        Operation(request_range: RangeRequest(key: base64(names.rev), revision: revision.map { "\($0 - 1)" }))
    }
    private func moveNumber(_ token: [UInt8]) -> Operation {
        Operation(request_put: .init(key: base64(names.rev), value: base64(token)))
    }

    /// Sends a transaction until its outcome is known.
    ///
    /// - Returns: The revision that stored it; `nil` if another machine was faster.
    private func send(_ transaction: Transaction, _ attempt: inout Attempt) throws(DefaultsError) -> Int64? {
        let answer = try call(transaction, &attempt)
        // The cluster was restored from a backup, and no heartbeat has noticed it yet.
        if answer.header.cluster_id != state.withLockedValue({ $0.mirror.cluster }) {
            try? resync(until: attempt.deadline)
        }
        if answer.succeeded == true { return answer.header.number }
        let found = answer.found(by: 0)
        attempt.newest = max(found?.number ?? 0, answer.found(by: 1)?.number ?? 0)
        // A proxy may have repeated the request.
        return attempt.isUncertain || found?.valueBytes == attempt.token ? try resolve(found, &attempt) : nil
    }

    /// Finds out whether an attempt without an answer was stored, and makes sure that it is not
    /// stored later.
    ///
    /// - Parameter newest: The present version of the suite's number.
    /// - Returns: The revision that stored it; `nil` if none has.
    private func resolve(_ newest: KeyValue?, _ attempt: inout Attempt) throws(DefaultsError) -> Int64? {
        var version = newest
        if version?.number ?? 0 == attempt.begin {
            let moving = Transaction(
                compare: [Comparison(key: base64(names.rev), mod_revision: "\(attempt.begin)")],
                success: [moveNumber(attempt.token + "-".utf8)], failure: [readNumber()])
            let answer = try call(moving, &attempt)
            if answer.succeeded == true { return nil }
            version = answer.found(by: 0)
        }
        while version?.number ?? 0 != attempt.begin {
            // Otherwise, another program has removed the number.
            guard let found = version, found.number > attempt.begin else { throw unknownOutcome(attempt) }
            if found.valueBytes == attempt.token {
                change { $0.statistics.resolved += 1 }
                return found.number
            }
            let earlier = Transaction(compare: [], success: [readNumber(before: found.number)], failure: [])
            version = try call(earlier, &attempt).found(by: 0)
        }
        return nil
    }

    private func unknownOutcome(_ attempt: Attempt) -> DefaultsError {
        DefaultsError(
            .unknownOutcome, key: attempt.key, reason: "etcd did not answer, so the change may be stored or not")
    }

    /// Makes a call until there is an answer, at one member after the other.
    private func call(
        _ transaction: Transaction, _ attempt: inout Attempt
    ) throws(DefaultsError) -> TransactionAnswer {
        let isWriting = transaction.success.contains { $0.request_range == nil }
        var failures = 0
        while true {
            let member = cluster.member
            do throws(CallError) {
                if isWriting, state.withLockedValue({ $0.watch.stream == nil }) {
                    // The cluster may be without a majority. A request that only reads finds out,
                    // and leaves no doubt about what is stored.
                    let _: RangeAnswer = try answer(
                        to: cluster.call(Method.range, RangeRequest(key: base64(names.rev)), at: member))
                }
                do throws(CallError) {
                    let answer: TransactionAnswer = try answer(
                        to: cluster.call(Method.transaction, transaction, at: member))
                    // Each operation has a response, and only a check has no operations.
                    let isCheck = answer.succeeded == true && transaction.success.isEmpty
                    guard isCheck || answer.responses != nil else { throw .noAnswer("no responses") }
                    return answer
                } catch {
                    if isWriting, !error.isRefusal, error.wasSent {
                        attempt.isUncertain = true
                    }
                    throw error
                }
            } catch {
                failures += 1
                guard !error.isRefusal, ContinuousClock.now < attempt.deadline else {
                    throw attempt.isUncertain ? unknownOutcome(attempt) : error.forUser(key: attempt.key)
                }
                cluster.leave(member)
                pause(failures)
            }
        }
    }

    private func answer<Answer: Sendable>(to future: EventLoopFuture<Answer>) throws(CallError) -> Answer {
        do { return try future.wait() } catch { throw error as? CallError ?? .noAnswer("\(error)") }
    }

    /// Waits until the mirror shows what made a commit fail.
    private func waitForNews(_ attempt: Attempt, _ edited: [EtcdMirror.Key], _ generation: UInt64) {
        let (revision, isExplained) = state.withLockedValue { state in
            (state.mirror.revision, state.mirror.comparisons(edited: edited, over: generation) == nil)
        }
        if attempt.newest > revision {
            wait(for: attempt.newest, until: attempt.deadline)
        } else if !isExplained {
            // A removal by a program other than this library changes no key that still exists.
            try? resync(until: attempt.deadline)
        }
    }
}
