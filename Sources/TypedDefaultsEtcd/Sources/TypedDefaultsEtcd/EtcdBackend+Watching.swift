import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// Watching
// ========
//
// At any time there is one watch, at one member. Its life:
//
// 1. `watch` asks the member for something that needs a majority of the cluster. A member that is
//    cut off does not answer, so the next one is tried. The answer also shows whether the cluster
//    was restored from a backup.
// 2. A watch begins at the revision after the mirror's. The history from there may be gone; then
//    everything is read again, and only real differences are reported.
// 3. At each heartbeat, the member is asked again, because a partition closes no connection and a
//    member without a majority stays silent.
//
// That other calls are answered does not prove that the watch is alive: a proxy may hold its
// answer back, or have lost it. So each heartbeat proves the mirror. If the revision of the cluster
// has grown beyond what is known, `ask` looks for a value that is newer than the mirror, and counts
// the values, because a removal leaves nothing to be found. What is missing then may be on its way.
// If the watch has not delivered it at the next heartbeat, the watch is silent: everything is read
// again, and another watch begins.
//
// Pauses. A watch that was useful is replaced at once. Watches that end before they are useful, or
// are refused, are tried again after pauses that grow to half a minute, because the cluster answers
// and its load is that of all clients. While nothing answers, the next member is tried after at
// most a second.
//
// Nothing here blocks: it runs on the event loop.

extension EtcdBackend {
    /// What a read has found out about the mirror.
    enum Proof {
        /// The mirror is complete.
        case current
        /// A change up to this revision is not in the mirror yet.
        case behind(Int64)
        /// Everything was read again, because the cluster was restored from a backup.
        case restored
    }

    /// Watches a member, after a pause if others have failed.
    ///
    /// - Parameter silent: The number of members in a row that have not answered.
    func watch(silent: Int) {
        let begun: (number: Int, failed: Int, old: EtcdStream?)? = change { state in
            guard !state.isClosed else { return nil }
            let old = state.watch.stream
            state.watch = WatchState(number: state.watch.number + 1)
            return (state.watch.number, state.failedWatches, old)
        }
        guard let (number, failed, old) = begun else { return }
        // A member does not close the connection of a watch that it has cancelled.
        old?.close()
        let pause = max(Self.delay(silent: silent), configuration.pause(failed: failed))
        cluster.transport.eventLoop.scheduleTask(in: TimeAmount(pause)) { [weak self] in
            guard let self else { return }
            let member = cluster.member
            ask(member, isWatched: false).whenComplete { [weak self] result in
                guard let self, isCurrent(number) else { return }
                switch result {
                case .success: open(at: member, number)
                case .failure(let error):
                    end(number, at: member, error, silent: (error as? CallError)?.isRefusal == true ? 0 : silent + 1)
                }
            }
        }
    }

    /// Returns the pause after members that did not answer.
    static func delay(silent: Int) -> Duration {
        silent == 0 ? .zero : .milliseconds(Int.random(in: 0...min(1_000, 20 << min(silent, 6))))
    }
    /// Returns the pause after watches that were not useful: about 0.1 s, 0.5 s, 2.5 s, 12.5 s, and
    /// then 30 s.
    static func delay(failed: Int) -> Duration {
        guard failed > 0 else { return .zero }
        let limit = (1..<min(failed, 5)).reduce(100) { limit, _ in limit * 5 }
        return .milliseconds(min(30_000, limit)) * Double.random(in: 0.8...1.0)
    }

    private func isCurrent(_ number: Int) -> Bool {
        state.withLockedValue { $0.watch.number == number && !$0.isClosed }
    }

    /// Opens a watch at a member that has just answered.
    private func open(at member: Int, _ number: Int) {
        let from = state.withLockedValue { $0.mirror.revision + 1 }
        let create = Watch.Create(key: base64(names.rev), range_end: base64(names.valuesEnd), start_revision: "\(from)")
        cluster.token(at: member).whenComplete { [weak self] result in
            guard let self else { return }
            let token: String
            do { token = try result.get() } catch { return end(number, at: member, error) }
            let request = EtcdRequest(
                method: Method.watch, body: json(Watch(create_request: create)), token: token.isEmpty ? nil : token)
            let stream = cluster.transport.stream(request, at: member) { [weak self] line in
                self?.receive(line, token, at: member, number)
            }
            let isOpen = change { state in
                guard state.watch.number == number, !state.isClosed else { return false }
                (state.watch.stream, state.watch.delivered) = (stream, from - 1)
                return true
            }
            guard isOpen else { return stream.close() }
            stream.end.whenSuccess { [weak self] in self?.end(number, at: member, $0) }
            beat(at: member, number)
        }
    }

    /// Ends a watch and begins another one, at the next member.
    ///
    /// - Parameter silent: The number of members in a row that have not answered.
    private func end(_ number: Int, at member: Int, _ error: (any Error)? = nil, silent: Int = 0) {
        let failed: Int? = change { state in
            guard state.watch.number == number, !state.isClosed else { return nil }
            if silent == 0 { state.failedWatches = state.watch.isUseful ? 0 : state.failedWatches + 1 }
            return state.failedWatches
        }
        guard let failed else { return }
        if let error = error as? CallError {
            // A member that stops may end two watches, one of them before it was useful.
            if error.isRefusal || (silent == 0 && failed > 2) { report(error.forUser().reason) }
        }
        noteSilence()
        cluster.leave(member)
        watch(silent: silent)
    }

    /// Reports why changes do not arrive, once.
    private func report(_ reason: String) {
        let error = DefaultsError(.unavailable, reason: "changes by other machines do not arrive: \(reason)")
        let isNew = change { state in exchange(&state.reported, with: error) != error }
        if isNew { send(.failed(error)) }
    }

    /// Asks the watched member again and again, as long as there is this watch.
    private func beat(at member: Int, _ number: Int) {
        cluster.transport.eventLoop.scheduleTask(in: TimeAmount(configuration.heartbeat)) { [weak self] in
            guard let self, isCurrent(number) else { return }
            ask(member, isWatched: true).whenComplete { [weak self] result in
                guard let self, isCurrent(number) else { return }
                switch result {
                case .success(.restored): watch(silent: 0)
                case .success(let proof):
                    if note(proof) { beat(at: member, number) } else { replaceSilentWatch(number, at: member) }
                case .failure(let error): end(number, at: member, error)
                }
            }
        }
    }

    /// - Returns: Whether the watch has delivered what was missing at the heartbeat before.
    private func note(_ proof: Proof) -> Bool {
        change { state in
            state.statistics.beats += 1
            if let missing = state.watch.missing, state.watch.delivered < missing.revision {
                return missing.since.duration(to: .now) < Self.shortestSilence
            }
            state.watch.missing = nil
            // A proxy that holds answers back shows no acceptance, and a refusal may take long.
            let isAccepted = state.watch.isAccepted || state.watch.begin.duration(to: .now) > configuration.patience
            if case .behind(let revision) = proof {
                state.watch.missing = (revision, .now)
            } else if isAccepted {
                state.watch.isUseful = true
                state.failedWatches = 0
                // Only an event shows that a watch that was silent is not.
                if state.reported?.reason.hasSuffix(Self.silence) != true { state.reported = nil }
            }
            return true
        }
    }

    private func replaceSilentWatch(_ number: Int, at member: Int) {
        report(Self.silence)
        change { $0.watch.isUseful = false }
        replaceAfterReading(number, at: member)
    }
    private static let silence =
        "a watch is open and delivers nothing, as behind a proxy that holds answers back; the values are read again"

    /// How late an event may be, even if the heartbeat is faster.
    private static let shortestSilence = Duration.milliseconds(250)

    /// Reads everything, and begins another watch.
    private func replaceAfterReading(_ number: Int, at member: Int) {
        readAll(at: member).whenComplete { [weak self] result in
            var error: (any Error)?
            if case .failure(let failure) = result { error = failure }
            self?.end(number, at: member, error)
        }
    }

    /// Asks a member for the revision of the cluster, which needs a majority, and whether the
    /// mirror is complete. Reads everything again if the cluster was restored from a backup, or was
    /// silent for long.
    ///
    /// - Parameter isWatched: Whether a watch is to deliver what is missing. Otherwise, and if no
    ///   watch lives, everything is read.
    private func ask(_ member: Int, isWatched: Bool) -> EventLoopFuture<Proof> {
        noteSilence()
        let begin = ContinuousClock.now
        let (known, number, isStale) = state.withLockedValue {
            (max($0.mirror.revision, $0.provenRevision), $0.mirror.cluster, $0.isStale)
        }
        let loop = cluster.transport.eventLoop
        let answer: EventLoopFuture<RangeAnswer> = cluster.call(
            Method.range, RangeRequest(key: base64(names.rev)), at: member)
        return answer.flatMap { [weak self] answer in
            guard let self else { return loop.makeSucceededFuture(.current) }
            let revision = answer.header.number
            let isRestored = revision < known || answer.header.cluster_id != number
            if isRestored || isStale {
                return readAll(at: member, isRestored: isRestored).map { isRestored ? .restored : .current }
            }
            let (isProven, isFailing) = state.withLockedValue {
                (revision <= max($0.provenRevision, $0.mirror.revision), $0.failedWatches > 0)
            }
            if isProven {
                noteProof(of: revision, askedAt: begin)
                return loop.makeSucceededFuture(.current)
            }
            // The watch will deliver it.
            if !isWatched, !isFailing { return loop.makeSucceededFuture(.behind(revision)) }
            return prove(at: member, askedAt: begin).flatMap { [weak self] proof in
                guard let self, !isWatched, case .behind = proof else { return loop.makeSucceededFuture(proof) }
                return readAll(at: member).map { .current }
            }
        }
    }

    /// Finds out whether the mirror is complete, at a cost that grows with the number of values.
    func prove(at member: Int, askedAt begin: ContinuousClock.Instant) -> EventLoopFuture<Proof> {
        let from = state.withLockedValue { $0.mirror.revision + 1 }
        let newest = RangeRequest(
            key: base64(names.values), range_end: base64(names.valuesEnd), limit: "1", sort_order: "DESCEND",
            sort_target: "MOD", keys_only: true, min_mod_revision: "\(from)")
        let answer: EventLoopFuture<RangeAnswer> = cluster.call(Method.range, newest, at: member)
        return answer.map { [weak self] answer in
            guard let self else { return .current }
            let (revision, newest) = (answer.header.number, answer.kvs?.first?.number ?? 0)
            let missing: Int64? = state.withLockedValue { state in
                // What has changed since the mirror's revision, and still exists, is not newer than
                // `newest`. The rest are removals.
                let mirror = state.mirror
                guard mirror.revision < revision else { return nil }
                guard newest > mirror.revision || mirror.entries.count != answer.number else { return nil }
                // A suite that others change all the time may be behind at each heartbeat.
                if let unproven = state.watch.unproven, unproven.revision <= mirror.revision {
                    state.lastProof = max(unproven.time, state.lastProof)
                    state.watch.unproven = nil
                }
                state.watch.unproven = state.watch.unproven ?? (revision, begin)
                return max(newest, mirror.revision + 1)
            }
            if let missing { return .behind(missing) }
            noteProof(of: revision, askedAt: begin)
            return .current
        }
    }

    /// Reads everything from a member.
    private func readAll(at member: Int, isRestored: Bool = false) -> EventLoopFuture<Void> {
        let begin = ContinuousClock.now
        let all = RangeRequest(key: base64(names.rev), range_end: base64(names.valuesEnd))
        let answer: EventLoopFuture<RangeAnswer> = cluster.call(Method.range, all, at: member)
        return answer.map { [weak self] in
            self?.replace(with: $0, isRestored: isRestored)
            self?.noteProof(of: $0.header.number, askedAt: begin)
        }
    }

    private func replace(with all: RangeAnswer, isRestored isKnown: Bool) {
        let (changed, old, isRestored) = change { state in
            let old = state.mirror.revision
            let isFirst = state.mirror.cluster == nil
            // A writer may be the first to hear it.
            let isRestored = isKnown || (!isFirst && state.mirror.cluster != all.header.cluster_id)
            let changed = state.mirror.replace(with: all.kvs ?? [], at: all.header.number, isRestored: isRestored)
            state.mirror.cluster = all.header.cluster_id
            state.statistics.resyncs += 1
            if isRestored {
                state.statistics.restores += 1
                state.provenRevision = 0
            }
            return (isFirst ? [] : changed, old, isRestored)
        }
        if isRestored {
            send(
                .failed(
                    DefaultsError(
                        .unavailable,
                        reason: "the cluster was restored from a backup: its revision was \(old) and is now"
                            + " \(all.header.number); the values of the backup are read from now on")))
        }
        sendChange(of: changed)
        if isRestored, !isKnown { watch(silent: 0) }
    }

    private func sendChange(of keys: [EtcdMirror.Key]) {
        guard !keys.isEmpty else { return }
        send(.changed(keys: keys.compactMap { String(validating: $0, as: UTF8.self) }))
    }

    /// Notes that the mirror was complete when a request was sent.
    private func noteProof(of revision: Int64, askedAt begin: ContinuousClock.Instant) {
        let wasStale = change { state in
            state.provenRevision = max(revision, state.provenRevision)
            state.lastProof = max(begin, state.lastProof)
            let wasStale = exchange(&state.isStale, with: false)
            if wasStale, configuration.whenStale == .unavailable { state.mirror.beginGeneration(nil) }
            return wasStale
        }
        if wasStale { send(.changed(keys: configuration.whenStale == .unavailable ? nil : [])) }
    }

    /// Notes if the mirror has not been known to be complete for too long.
    private func noteSilence() {
        let since: ContinuousClock.Instant? = change { state in
            guard !state.isStale, state.lastProof.duration(to: .now) > configuration.maximumStaleness else {
                return nil
            }
            state.isStale = true
            if configuration.whenStale == .unavailable { state.mirror.beginGeneration(nil) }
            return state.lastProof
        }
        if let since { send(.stale(since: since)) }
    }

    /// Notes silence in time, also during a pause, for as long as this is open.
    func checkStaleness() {
        let rest: Duration? = state.withLockedValue { state in
            guard !state.isClosed else { return nil }
            let limit = configuration.maximumStaleness
            return state.isStale ? limit : limit - state.lastProof.duration(to: .now)
        }
        guard let rest else { return }
        cluster.transport.eventLoop.scheduleTask(in: TimeAmount(rest) + .milliseconds(10)) { [weak self] in
            self?.noteSilence()
            self?.checkStaleness()
        }
    }

    /// Processes one line of a watch, on the event loop.
    private func receive(_ line: [UInt8], _ token: String, at member: Int, _ number: Int) {
        guard let result = try? JSONDecoder().decode(WatchLine.self, from: Data(line)).result,
            (result.events ?? []).allSatisfy({ (1..<Int64.max).contains($0.kv.number) })
        else { return end(number, at: member, CallError.noAnswer("unexpected answer")) }
        guard result.canceled != true else {
            guard result.compact_revision != nil else {
                // Not allowed, such as after the token has expired.
                cluster.forget(token)
                return end(number, at: member, CallError.noAnswer("canceled"))
            }
            return replaceAfterReading(number, at: member)
        }
        let events = (result.events ?? []).map { event in
            let value = event.type == "DELETE" ? nil : event.kv.valueBytes
            return EtcdMirror.Event(name: event.kv.keyBytes, value: value, revision: event.kv.number)
        }
        sendChange(
            of: change { state in
                guard state.watch.number == number else { return [] }
                state.watch.isAccepted = true
                guard let last = events.last else { return [] }
                (state.watch.delivered, state.watch.isUseful) = (max(last.revision, state.watch.delivered), true)
                (state.failedWatches, state.reported) = (0, nil)
                return state.mirror.apply(events)
            })
    }

    // For writers, and at the start

    /// Reads everything from any member. Blocks.
    func resync(until deadline: ContinuousClock.Instant) throws(DefaultsError) {
        var failures = 0
        while true {
            let member = cluster.member
            do { return try readAll(at: member).wait() } catch {
                let error = error as? CallError ?? .noAnswer("\(error)")
                guard !error.isRefusal, ContinuousClock.now < deadline else {
                    throw DefaultsError(.unavailable, reason: error.forUser().reason)
                }
                cluster.leave(member)
                failures += 1
                pause(failures)
            }
        }
    }

    /// Waits until the mirror has reached a revision. Reads everything again if the watch does not
    /// deliver it soon, and gives up if the cluster does not answer until the deadline: then the
    /// watch will deliver it later.
    func wait(for revision: Int64, until deadline: ContinuousClock.Instant) {
        let semaphore: DispatchSemaphore? = change { state in
            guard state.mirror.revision < revision else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.waiting.append((revision, semaphore))
            return semaphore
        }
        guard let semaphore, semaphore.wait(timeout: .now() + .milliseconds(500)) == .timedOut else { return }
        try? resync(until: deadline)
        change { state in
            state.waiting.removeAll { $0.semaphore === semaphore }
            state.watch.missing = state.watch.missing ?? (revision, .now)
        }
    }
}

/// Pauses a thread that has tried a number of times, up to a quarter of a second.
func pause(_ failures: Int) {
    let limit = min(250, 10 << min(failures, 5))
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(.random(in: limit / 2...limit)))
}

extension TimeAmount {
    /// Creates an amount from 1 ms to 30 years, so that neither a loop without a pause nor an
    /// overflow is possible.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = min(max(duration, .milliseconds(1)), .seconds(1_000_000_000)).components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
