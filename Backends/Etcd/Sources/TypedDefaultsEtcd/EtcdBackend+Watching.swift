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
// 3. Each second, the member is asked again, because a partition closes no connection and a member
//    without a majority stays silent.
//
// Nothing here blocks: it runs on the event loop.

extension EtcdBackend {
    /// Watches a member, after a pause if others have failed.
    func watch(failures: Int) {
        let begun: (number: Int, old: EtcdStream?)? = change { state in
            guard !state.isClosed else { return nil }
            state.watch += 1
            state.statistics.watches += 1
            return (state.watch, exchange(&state.stream, with: nil))
        }
        guard let (number, old) = begun else { return }
        // A member does not close the connection of a watch that it has cancelled.
        old?.close()
        let pause = failures == 0 ? 0 : Int64.random(in: 0...min(1_000, 20 << min(failures, 6)))
        cluster.transport.eventLoop.scheduleTask(in: .milliseconds(pause)) { [weak self] in
            guard let self else { return }
            let member = cluster.member
            ask(member).whenComplete { [weak self] result in
                guard let self, isCurrent(number) else { return }
                switch result {
                case .success: open(at: member, number)
                case .failure(let error): end(number, at: member, failures + 1, error)
                }
            }
        }
    }

    private func isCurrent(_ number: Int) -> Bool { state.withLockedValue { $0.watch == number && !$0.isClosed } }

    /// Opens a watch at a member that has just answered.
    private func open(at member: Int, _ number: Int) {
        let from = state.withLockedValue { $0.mirror.revision + 1 }
        let create = Watch.Create(key: base64(names.start), range_end: base64(names.end), start_revision: "\(from)")
        cluster.token(at: member).whenComplete { [weak self] result in
            guard let self else { return }
            guard case .success(let token) = result else { return end(number, at: member, 1) }
            let request = EtcdRequest(
                method: Method.watch, body: json(Watch(create_request: create)), token: token.isEmpty ? nil : token)
            let stream = cluster.transport.stream(request, at: member) { [weak self] line in
                self?.receive(line, token, at: member, number)
            }
            let isOpen = change { state in
                guard state.watch == number, !state.isClosed else { return false }
                state.stream = stream
                return true
            }
            guard isOpen else { return stream.close() }
            stream.end.whenSuccess { [weak self] in self?.end(number, at: member, 1) }
            beat(at: member, number)
        }
    }

    /// Ends a watch and begins another one, at the next member.
    private func end(_ number: Int, at member: Int, _ failures: Int, _ error: (any Error)? = nil) {
        guard isCurrent(number) else { return }
        if let error = error as? CallError, error.isRefusal { report(error.forUser()) }
        noteSilence()
        cluster.leave(member)
        watch(failures: failures)
    }

    /// Reports a refusal, once.
    private func report(_ error: DefaultsError) {
        let isNew = change { state in exchange(&state.reported, with: error) != error }
        if isNew { send(.failed(DefaultsError(.unavailable, reason: error.reason))) }
    }

    /// Asks the watched member again and again, as long as there is this watch.
    private func beat(at member: Int, _ number: Int) {
        cluster.transport.eventLoop.scheduleTask(in: TimeAmount(configuration.heartbeat)) { [weak self] in
            guard let self, isCurrent(number) else { return }
            ask(member).whenComplete { [weak self] result in
                guard let self, isCurrent(number) else { return }
                switch result {
                case .success: beat(at: member, number)
                case .failure(let error): end(number, at: member, 1, error)
                }
            }
        }
    }

    /// Asks a member for the key of this writer, which needs a majority of the cluster. Reads
    /// everything again if the cluster was restored from a backup, or was silent for long.
    private func ask(_ member: Int) -> EventLoopFuture<Void> {
        noteSilence()
        let (begin, mirror, isStale) = state.withLockedValue {
            (ContinuousClock.now, ($0.mirror.revision, $0.mirror.cluster), $0.isStale)
        }
        let (known, number) = mirror
        let loop = cluster.transport.eventLoop
        let answer: EventLoopFuture<RangeAnswer> = cluster.call(
            Method.range, RangeRequest(key: base64(names.writer)), at: member)
        return answer.flatMap { [weak self] answer in
            let isRestored = answer.header.number < known || answer.header.cluster_id != number
            guard let self, isRestored || isStale else { return loop.makeSucceededVoidFuture() }
            return readAll(at: member, isRestored: isRestored)
        }.map { [weak self] in self?.noteAnswer(askedAt: begin) }
    }

    /// Reads everything from a member.
    private func readAll(at member: Int, isRestored: Bool = false) -> EventLoopFuture<Void> {
        let all = RangeRequest(key: base64(names.values), range_end: base64(names.valuesEnd))
        let answer: EventLoopFuture<RangeAnswer> = cluster.call(Method.range, all, at: member)
        return answer.map { [weak self] in self?.replace(with: $0, isRestored: isRestored) }
    }

    private func replace(with all: RangeAnswer, isRestored: Bool) {
        let (changed, old) = change { state in
            let old = state.mirror.revision
            let isFirst = state.mirror.cluster == nil
            let changed = state.mirror.replace(with: all.kvs ?? [], at: all.header.number, isRestored: isRestored)
            state.mirror.cluster = all.header.cluster_id
            state.statistics.resyncs += 1
            if isRestored {
                state.statistics.restores += 1
                state.lease = nil
            }
            return (isFirst ? [] : changed, old)
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
    }

    private func sendChange(of keys: [EtcdMirror.Key]) {
        guard !keys.isEmpty else { return }
        send(.changed(keys: keys.compactMap { String(validating: $0, as: UTF8.self) }))
    }

    private func noteAnswer(askedAt begin: ContinuousClock.Instant) {
        let wasStale = change { state in
            (state.lastAnswer, state.reported) = (max(begin, state.lastAnswer), nil)
            let wasStale = exchange(&state.isStale, with: false)
            if wasStale, configuration.whenStale == .unavailable { state.mirror.beginGeneration(nil) }
            return wasStale
        }
        if wasStale { send(.changed(keys: configuration.whenStale == .unavailable ? nil : [])) }
    }

    /// Notes if the cluster has been silent for too long.
    private func noteSilence() {
        let since: ContinuousClock.Instant? = change { state in
            guard !state.isStale, state.lastAnswer.duration(to: .now) > configuration.maximumStaleness else {
                return nil
            }
            state.isStale = true
            if configuration.whenStale == .unavailable { state.mirror.beginGeneration(nil) }
            return state.lastAnswer
        }
        if let since { send(.stale(since: since)) }
    }

    /// Processes one line of a watch, on the event loop.
    private func receive(_ line: [UInt8], _ token: String, at member: Int, _ number: Int) {
        guard let result = try? JSONDecoder().decode(WatchLine.self, from: Data(line)).result else {
            return end(number, at: member, 1)
        }
        guard result.canceled != true else {
            guard result.compact_revision != nil else {
                // Not allowed, such as after the token has expired.
                cluster.forget(token)
                return end(number, at: member, 1)
            }
            readAll(at: member).whenComplete { [weak self] result in
                guard let self else { return }
                if case .failure = result { return end(number, at: member, 1) }
                if isCurrent(number) { watch(failures: 0) }
            }
            return
        }
        let events = (result.events ?? []).map { event in
            let value = event.type == "DELETE" ? nil : event.kv.valueBytes
            return EtcdMirror.Event(name: event.kv.keyBytes, value: value, revision: event.kv.number)
        }
        guard !events.isEmpty else { return }
        sendChange(of: change { state in state.watch == number ? state.mirror.apply(events) : [] })
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
        change { state in state.waiting.removeAll { $0.semaphore === semaphore } }
    }
}

/// Pauses a thread that has tried a number of times, up to a quarter of a second.
func pause(_ failures: Int) {
    let limit = min(250, 10 << min(failures, 5))
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(.random(in: limit / 2...limit)))
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
