import Dispatch
import NIOConcurrencyHelpers
import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

/// What happens when requests and answers are lost.
// One after the other, because one of them compacts the member, which ends watches of the others.
@Suite(.serialized, Member.isRunning) struct FaultTests {
    let prefix = Member.prefix()
    let transport = FaultyTransport()

    func backend(
        writeTimeout: Duration = .seconds(20), _ change: (inout EtcdConfiguration) -> Void = { _ in }
    ) throws -> EtcdBackend {
        var configuration = Member.configuration(prefix)
        configuration.writeTimeout = writeTimeout
        change(&configuration)
        return try EtcdBackend(configuration, transport)
    }
    func setting(_ backend: EtcdBackend, onFailure: @escaping @Sendable (DefaultsError) -> Void = { _ in })
        -> UserDefault<Int>
    {
        let suite = DefaultsSuite(backend: backend)
        suite.onFailure = onFailure
        return UserDefault(DefaultKey("count", default: 0), in: suite)
    }
    func stored() throws -> String? { try Member.get(prefix + "v/count") }
    /// Adds a number, or after the first attempt another one. Returns the number of attempts.
    func attempts(of setting: UserDefault<Int>, adding number: Int = 1, then next: Int = 1) throws -> Int {
        var bodies = 0
        try setting.update { count in
            bodies += 1
            count += bodies == 1 ? number : next
        }
        return bodies
    }
    /// As if the cluster had not answered for a minute, or the process had been stopped. An answer
    /// that is on its way may end it, so call this again.
    func beSilentForAMinute(_ backend: EtcdBackend) {
        backend.change { if !$0.isStale { $0.lastProof -= .seconds(60) } }
    }

    /// A setting of another machine.
    func other() throws -> UserDefault<Int> {
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        return UserDefault(DefaultKey("other", default: 0), in: suite)
    }

    /// Other machines have committed since, so the last version of the number does not have it.
    @Test(arguments: [0, 1, 3]) func aStoredCommitIsFoundInTheHistoryOfTheNumber(_ later: Int) throws {
        let (setting, other) = (setting(try backend()), try other())
        try setting.update { $0 = 1 }
        transport.holdLines()
        transport.add(Method.transaction, .loseAnswer, .before { for _ in 0..<later { try other.update { $0 += 1 } } })
        #expect(try attempts(of: setting) == 1, "a second one would count twice")
        #expect(try stored() == "2")
        #expect(transport.calls(of: Method.transaction) == 3 + later)
        try transport.releaseLines()
        try eventually { setting.value == 2 }
    }

    @Test(arguments: [1, 3]) func anAttemptThatWasNotStoredIsNotFoundAndNotStoredLater(_ later: Int) throws {
        let (setting, other) = (setting(try backend()), try other())
        try setting.update { $0 = 1 }
        transport.add(Method.transaction, .hold, .before { for _ in 0..<later { try other.update { $0 += 1 } } })
        #expect(try attempts(of: setting) == 2)
        #expect(try stored() == "2")
        try transport.release()
        #expect(try stored() == "2", "the late attempt was stored")
    }

    /// Only the watch can tell what happened.
    @Test(arguments: [true, false]) func aHistoryThatIsGoneLeavesTheOutcomeToTheWatch(_ isWatching: Bool) throws {
        let (setting, prefix) = (setting(try backend()), prefix)
        try setting.update { $0 = 1 }
        let other = try other()
        if !isWatching { transport.holdLines() }
        transport.add(
            Method.transaction, .loseAnswer,
            .before {
                if isWatching { try eventually { setting.value == 2 } }
                for _ in 0..<2 { try other.update { $0 += 1 } }
                try Member.compact()
            })
        if isWatching {
            #expect(try attempts(of: setting) == 1)
        } else {
            let error = #expect(throws: DefaultsError.self) { try setting.update { $0 += 1 } }
            #expect(error?.kind == .unknownOutcome)
            try transport.releaseLines()
        }
        try eventually { setting.value == 2 }
        #expect(try Member.get(prefix + "v/count") == "2")
    }

    /// The first attempt is under way for a long time. Meanwhile another program adds the key that
    /// the attempt expects to be missing, so the second attempt fails, and removes it.
    @Test func aLateAttemptIsNotStoredAfterAConflict() throws {
        let (setting, prefix) = (setting(try backend()), prefix)
        transport.add(Method.transaction, .hold, .before { try Member.put(prefix + "v/count", "10") })
        #expect(try attempts(of: setting, adding: 1_000) == 2)
        #expect(try stored() == "11")
        try Member.delete(prefix + "v/count")
        try transport.release()
        #expect(try stored() == nil, "the late attempt was stored")
    }

    /// As above, but the attempt arrives between the conflict and the move of the number.
    @Test func anAttemptThatArrivesAfterAConflictIsFound() throws {
        let backend = try backend()
        let (setting, transport, prefix) = (setting(backend), transport, prefix)
        transport.add(
            Method.transaction, .hold, .before { try Member.put(prefix + "v/count", "10") },
            .before {
                try Member.delete(prefix + "v/count")
                try transport.release()
            })
        #expect(try attempts(of: setting, adding: 1_000) == 1, "a second one would count twice")
        #expect(try stored() == "1000")
        #expect(backend.state.withLockedValue { $0.statistics.resolved } == 1)
    }

    /// As above, but the number disappears, so it tells nothing about the attempt.
    @Test func aNumberThatDisappearsLeavesTheOutcomeUnknown() throws {
        let (setting, prefix) = (setting(try backend()), prefix)
        try setting.update { $0 = 1 }
        transport.add(Method.transaction, .hold, .before { try Member.delete(prefix + "rev") })
        let error = #expect(throws: DefaultsError.self) { try setting.update { $0 += 1_000 } }
        #expect(error?.kind == .unknownOutcome)
        #expect(try stored() == "1")
        try setting.update { $0 += 1 }
        #expect(try stored() == "2")
    }

    @Test func aRequestThatWasNotSentChangesNothing() throws {
        let setting = setting(try backend(writeTimeout: .seconds(2)))
        try setting.update { $0 = 1 }
        for _ in 0..<40 { transport.add(Method.transaction, .failToConnect) }
        let error = #expect(throws: DefaultsError.self) { try setting.update { $0 = 2 } }
        #expect(error?.kind == .unavailable)
        transport.clear()
        #expect(try stored() == "1")
    }

    /// The cluster may be without a majority, and would store the request later.
    @Test func withoutAWatchAWriteIsSentOnlyAfterAnAnswer() throws {
        let setting = setting(try backend(writeTimeout: .seconds(2)))
        try setting.update { $0 = 1 }
        try transport.cut()
        let calls = transport.calls(of: Method.transaction)
        let error = #expect(throws: DefaultsError.self) { try setting.update { $0 = 2 } }
        #expect(error?.kind == .unavailable)
        #expect(transport.calls(of: Method.transaction) == calls)
    }

    @Test func withoutAnyAnswerTheOutcomeIsUnknown() throws {
        let backend = try backend(writeTimeout: .seconds(2))
        let setting = setting(backend)
        try setting.update { $0 = 1 }
        for (round, fault) in [FaultyTransport.Fault.loseRequest, .hold].enumerated() {
            for _ in 0..<40 { transport.add(Method.transaction, fault) }
            let error = #expect(throws: DefaultsError.self) { try setting.update { $0 += 10 } }
            #expect(error?.kind == .unknownOutcome)
            transport.clear()
            if round == 1 {
                // It arrives after all, and then counts as a change by others.
                try transport.release()
                try eventually { setting.value == 11 }
            }
            #expect(try stored() == ["1", "11"][round])
        }
        try setting.update { $0 += 100 }
        #expect(try stored() == "111")
    }

    /// From some moment on, only transactions are answered.
    @Test(arguments: [true, false]) func anAcknowledgedCommitIsReadAndCounts(_ isOfSuite: Bool) throws {
        let backend = try backend(writeTimeout: .seconds(1)) { $0.heartbeat = .seconds(60) }
        let setting = setting(backend)
        let suite = DefaultsSuite(backend: backend)
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        let (count, other) = (DefaultKey("count", default: 0), DefaultKey("other", default: 0))
        let heard = NIOLockedValueBox<[Int?]>([])
        let token = setting.observe { change in heard.withLockedValue { $0.append(change.newValue) } }
        try suite.update { ($0[count], $0[other]) = (1, 1) }
        #expect([suite[count], suite[other]] == [1, 1])
        transport.holdLines()
        transport.isRangeCut.withLockedValue { $0 = true }
        if isOfSuite { try suite.update { ($0[count], $0[other]) = (2, 2) } } else { try setting.update { $0 = 2 } }
        #expect(try stored() == "2")
        #expect(suite[count] == 2)
        #expect(try suite.contents()["count"] == 2)
        #expect(suite[other] == (isOfSuite ? 2 : 1))
        try setting.update { $0 += 10 }
        #expect(try stored() == "12")
        #expect(suite[count] == 12)
        transport.isRangeCut.withLockedValue { $0 = false }
        try transport.releaseLines()
        let name = Array("count".utf8)
        try eventually { backend.state.withLockedValue { $0.mirror.entries[name]?.json == Array("12".utf8) } }
        #expect(suite[count] == 12)
        try Member.put(prefix + "v/count", "13")
        try eventually { heard.withLockedValue { $0 } == [1, 2, 12, 13] }
        token.cancel()
    }

    /// The body must not run again because of an answer without content: it may be stored.
    @Test(arguments: [
        #"{"header":{}}"#, #"{"header":{"revision":"5"}}"#, #"{"header":{"revision":"9223372036854775807"}}"#,
    ])
    func anAnswerWithoutResponsesIsNone(_ text: String) throws {
        let backend = try backend()
        let setting = setting(backend)
        transport.add(Method.transaction, .answer(text))
        #expect(try attempts(of: setting) == 1)
        #expect(try stored() == "1")
        #expect(backend.state.withLockedValue { $0.statistics.resolved } == 1)
    }

    @Test func aClusterAtTheLastRevisionIsNone() throws {
        transport.add(Method.range, .answer(#"{"header":{"revision":"9223372036854775807"}}"#))
        let backend = try backend()
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        let event = #"{"kv":{"key":"\#(base64((prefix + "v/count").utf8))","mod_revision":"9223372036854775807"}}"#
        try transport.deliver(#"{"result":{"events":[\#(event)]}}"#, toWatch: 0)
        try eventually { backend.state.withLockedValue { $0.watch.number > 1 && $0.watch.stream != nil } }
        #expect(try backend.value(forKey: "count") == nil)
        #expect(backend.state.withLockedValue { $0.statistics.restores } == 0)
    }

    /// The members are stopped while a writer waits.
    @Test func readingGoesOnInAnOutage() throws {
        let backend = try backend()
        let (setting, suite) = (setting(backend), DefaultsSuite(backend: backend))
        try setting.update { $0 = 1 }
        try transport.cut()
        let isEnded = NIOLockedValueBox(false)
        DispatchQueue.global().async {
            try? setting.update { $0 = 2 }
            isEnded.withLockedValue { $0 = true }
        }
        let calls = transport.calls(of: Method.range)
        try eventually { transport.calls(of: Method.range) > calls + 2 }
        #expect(try suite.contents() == ["count": 1])
        #expect(try suite.read(DefaultKey("count", default: 0), DefaultKey("other", default: 7)) == (1, 7))
        try suite.checkReadability()
        #expect(!isEnded.withLockedValue { $0 })
        transport.join()
        try eventually { isEnded.withLockedValue { $0 } }
    }

    @Test func aRefusalAfterALostAnswerIsNoProof() throws {
        let setting = setting(try backend())
        try setting.update { $0 = 1 }
        transport.add(Method.transaction, .loseRequest, .refuse(8, "etcdserver: mvcc: database space exceeded"))
        let error = #expect(throws: DefaultsError.self) { try setting.update { $0 = 2 } }
        #expect(error?.kind == .unknownOutcome)
        transport.add(Method.transaction, .refuse(8, "etcdserver: mvcc: database space exceeded"))
        let other = #expect(throws: DefaultsError.self) { try setting.update { $0 = 2 } }
        #expect(other?.kind == .unavailable)
        #expect(other?.reason == "the database of etcd is full")
    }

    @Test func aHistoryThatIsGoneIsReadAsAWhole() throws {
        let backend = try backend()
        let suite = DefaultsSuite(backend: backend)
        let heard = NIOLockedValueBox<[String]>([])
        let token = suite.observeAll { change in heard.withLockedValue { $0 += change.keys.sorted() } }
        defer { token.cancel() }
        try suite.update { contents in for key in ["kept", "changed", "removed"] { contents[key] = 1 } }
        try eventually { heard.withLockedValue { $0 } == ["changed", "kept", "removed"] }
        heard.withLockedValue { $0 = [] }
        let resyncs = backend.state.withLockedValue { $0.statistics.resyncs }
        // A watch that is being opened would not be cut.
        try eventually { transport.openStreams == 1 }
        try transport.cut()
        for number in 2...20 { try Member.put(prefix + "v/changed", "\(number)") }
        for text in ["2", "1"] { try Member.put(prefix + "v/kept", text) }
        try Member.delete(prefix + "v/removed")
        try Member.put(prefix + "v/added", "1")
        try Member.compact()
        transport.join()
        try eventually { heard.withLockedValue { !$0.isEmpty } }
        #expect(heard.withLockedValue { $0 } == ["added", "changed", "removed"])
        #expect(try suite.contents()["changed"] == 20)
        #expect(backend.state.withLockedValue { $0.statistics.resyncs } == resyncs + 1)
        try eventually { transport.openStreams == 1 }
    }

    /// Before the next heartbeat, while a writer waits for an answer.
    @Test func aWriterNoticesARestoredBackup() throws {
        let failures = NIOLockedValueBox<[DefaultsError]>([])
        let backend = try backend { $0.heartbeat = .seconds(3_600) }
        let setting = setting(backend) { error in failures.withLockedValue { $0.append(error) } }
        try setting.update { $0 = 1 }
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        transport.holdLines()
        let header = #""header":{"cluster_id":"1","revision":"2"}"#
        transport.add(Method.transaction, .answer(#"{\#(header),"succeeded":true,"responses":[]}"#))
        transport.add(Method.range, .answer("{\(header)}"))
        try setting.update { $0 = 5 }
        try eventually { failures.withLockedValue { $0.contains { $0.reason.contains("restored from a backup") } } }
        // Here, the old cluster answers again.
        try eventually { setting.value == 5 }
        try transport.releaseLines()
        try Member.put(prefix + "v/count", "6")
        try eventually { setting.value == 6 }
    }
}
