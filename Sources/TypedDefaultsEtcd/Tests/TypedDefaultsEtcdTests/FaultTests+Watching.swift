import NIOConcurrencyHelpers
import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

/// What happens when a watch is late, ends, or sends something unexpected.
extension FaultTests {
    @Test func aCommitWithoutAnEventBeginsTheNextGeneration() throws {
        let backend = try backend(writeTimeout: .seconds(1)) { $0.heartbeat = .seconds(60) }
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        transport.holdLines()
        transport.isRangeCut.withLockedValue { $0 = true }
        for number in 1...2 {
            let generation = try #require(backend.generation)
            let outcome = try backend.commit([("count", .integer(.init(number)))], over: generation)
            #expect(outcome == .committed(generation: generation + 1))
            #expect(backend.changes(since: generation).keys == ["count"])
        }
        #expect(try stored() == "2")
        let generation = backend.generation
        transport.isRangeCut.withLockedValue { $0 = false }
        try transport.releaseLines()
        let name = Array("count".utf8)
        try eventually { backend.state.withLockedValue { $0.mirror.entries[name]?.json == Array("2".utf8) } }
        #expect(backend.generation == generation, "both are known")
    }

    /// Another program changes or removes the value, or the number, and the watch has not delivered
    /// it.
    @Test(arguments: ["v/count", "v/count removed", "rev removed"])
    func aConflictIsReadThoughTheWatchIsLate(_ change: String) throws {
        let setting = setting(try backend())
        try setting.update { $0 = 1 }
        transport.holdLines()
        switch change {
        case "v/count": try Member.put(prefix + "v/count", "10")
        case "v/count removed": try Member.delete(prefix + "v/count")
        default: try Member.delete(prefix + "rev")
        }
        #expect(try attempts(of: setting) == 2)
        #expect(try stored() == ["v/count": "11", "v/count removed": "1"][change, default: "2"])
        try transport.releaseLines()
    }

    /// Another machine has committed, and the watch has not delivered it.
    @Test(arguments: ["update", "equal value", "removal"]) func aWriteThatChangesNothingIsNotBlind(_ way: String) throws
    {
        let (backend, key) = (try backend(), DefaultKey("count", default: 0))
        let (setting, there) = (setting(backend), DefaultsSuite(backend: try Member.backend(prefix)))
        if way != "removal" { try setting.update { $0 = 1 } }
        try eventually { try there.contents()["count"] == (way == "removal" ? nil : 1) }
        transport.holdLines()
        try there.update(key) { $0 = 10 }
        switch way {
        case "update": #expect(try setting.update { $0 } == 10)
        case "equal value": try setting.store.save(1)
        default: try setting.store.removeStored()
        }
        #expect(try stored() == ["update": "10", "equal value": "1"][way])
        try transport.releaseLines()
        // Nothing is put to confirm.
        let revision = try Member.get(prefix + "rev")
        if way != "removal" { try setting.store.save(setting.value) }
        #expect(try setting.update { $0 } == setting.value)
        #expect(try Member.get(prefix + "rev") == revision)
    }

    /// The revision of the cluster also counts the writes of other suites.
    @Test func anUpdateThatChangesNothingDoesNotWaitForOtherSuites() throws {
        let backend = try backend()
        let setting = setting(backend)
        try setting.update { $0 = 1 }
        let resyncs = backend.state.withLockedValue { $0.statistics.resyncs }
        try Member.put("other-" + prefix + "v/count", "10")
        #expect(try setting.update { $0 } == 1)
        #expect(backend.state.withLockedValue { $0.statistics.resyncs } == resyncs)
    }

    @Test func aConflictThatTheWatchHasExplainedReadsNothing() throws {
        let backend = try backend()
        let (setting, prefix) = (setting(backend), prefix)
        try setting.update { $0 = 1 }
        var number = 1
        // The watch may deliver the commit too late, so this happens again.
        try eventually {
            let resyncs = backend.state.withLockedValue { $0.statistics.resyncs }
            number += 10
            transport.add(
                Method.transaction,
                .before { [number] in
                    try Member.put(prefix + "v/count", "\(number)")
                    try eventually { try backend.value(forKey: "count") == .integer(Int64(number)) }
                })
            try setting.update { $0 += 1 }
            #expect(try stored() == "\(number + 1)")
            return backend.state.withLockedValue { $0.statistics.resyncs } == resyncs
        }
    }

    @Test func linesOfAnEarlierWatchAreIgnored() throws {
        let backend = try backend()
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        try transport.cut()
        transport.join()
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        let name = base64((prefix + "v/count").utf8)
        func event(_ value: String) -> String {
            let pair = #"{"key":"\#(name)","value":"\#(base64(value.utf8))","mod_revision":"999999"}"#
            return #"{"result":{"events":[{"kv":\#(pair)}]}}"#
        }
        try transport.deliver(event("1"), toWatch: 0)
        #expect(try backend.value(forKey: "count") == nil)
        try transport.deliver(event("2"), toWatch: 1)
        #expect(try backend.value(forKey: "count") == 2, "such a line is understood")
    }

    @Test(arguments: [#"{"error":{"grpc_code":14}}"#, "text", #"{"result":{"canceled":true}}"#])
    func aLineThatIsNoResultBeginsAnotherWatch(_ line: String) throws {
        let backend = try backend { $0.credentials = .init(user: "shop", password: "") }
        let setting = setting(backend)
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        #expect(transport.calls(of: Method.authenticate) == 1)
        try transport.deliver(line, toWatch: 0)
        try eventually { backend.state.withLockedValue { $0.watch.number > 1 && $0.watch.stream != nil } }
        try Member.put(prefix + "v/count", "3")
        try eventually { setting.value == 3 }
        // A watch is cancelled if its token has expired.
        #expect((transport.calls(of: Method.authenticate) > 1) == line.contains("canceled"))
    }

    @Test func aRefusalIsReportedOnce() throws {
        let failures = NIOLockedValueBox<[DefaultsError.Kind]>([])
        let backend = try backend { $0.heartbeat = .milliseconds(20) }
        let setting = setting(backend) { error in failures.withLockedValue { $0.append(error.kind) } }
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        let refusal = FaultyTransport.Fault.refuse(7, "etcdserver: permission denied")
        transport.add(Method.range, refusal, refusal, refusal, refusal)
        try eventually { transport.isWithoutFaults && backend.state.withLockedValue { $0.watch.stream != nil } }
        try Member.put(prefix + "v/count", "3")
        try eventually { setting.value == 3 }
        try eventually { failures.withLockedValue { $0 } == [.unavailable] }
        // The next one is reported again, because the member has answered in between.
        transport.add(Method.range, refusal)
        try eventually { failures.withLockedValue { $0 } == [.unavailable, .unavailable] }
    }

    /// Nothing changes in the first round, so no event of a watch ends the silence.
    @Test(arguments: [EtcdConfiguration.StalePolicy.serve, .unavailable])
    func eachSilenceIsReportedAndEnds(_ policy: EtcdConfiguration.StalePolicy) throws {
        let silences = NIOLockedValueBox<[DefaultsError.Kind]>([])
        let backend = try backend { configuration in
            configuration.heartbeat = .milliseconds(20)
            configuration.whenStale = policy
        }
        let setting = setting(backend) { error in
            if error.reason.contains("may be outdated") { silences.withLockedValue { $0.append(error.kind) } }
        }
        try setting.update { $0 = 7 }
        let generation = backend.generation
        for round in 1...2 {
            try transport.cut()
            try eventually {
                beSilentForAMinute(backend)
                return silences.withLockedValue { $0 } == Array(repeating: .unavailable, count: round)
            }
            switch policy {
            case .serve:
                #expect(try setting.store.load() == 7)
                #expect(round > 1 || backend.generation == generation)
            case .unavailable:
                let error = #expect(throws: DefaultsError.self) { try setting.store.load() }
                #expect(error?.kind == .unavailable)
                #expect(round > 1 || backend.generation != generation)
            }
            if round == 2 { try Member.put(prefix + "v/count", "8") }
            transport.join()
            try eventually { backend.state.withLockedValue { !$0.isStale } }
            try eventually { setting.value == 6 + round }
        }
    }

    @Test func aClosedBackendEndsItsWatch() throws {
        let backend = try backend()
        try Member.put(prefix + "v/count", "3")
        try eventually { try backend.value(forKey: "count") == 3 }
        backend.close()
        try eventually { transport.openStreams == 0 }
    }

    @Test func anAnswerIsAsOldAsItsRequest() throws {
        let sent = NIOLockedValueBox(ContinuousClock.now)
        // The first request reads everything, and the second one begins the watch.
        transport.add(Method.range, .before {}, .before { sent.withLockedValue { $0 = .now } })
        let backend = try backend { $0.heartbeat = .seconds(60) }
        try eventually { backend.state.withLockedValue { $0.watch.stream != nil } }
        #expect(backend.state.withLockedValue { $0.lastProof } <= sent.withLockedValue { $0 })
    }

    @Test(arguments: [EtcdConfiguration.StalePolicy.serve, .unavailable])
    func aProcessThatWasStoppedReadsEverythingAgain(_ policy: EtcdConfiguration.StalePolicy) throws {
        let failures = NIOLockedValueBox<[DefaultsError.Kind]>([])
        let backend = try backend { configuration in
            configuration.heartbeat = .milliseconds(20)
            configuration.whenStale = policy
        }
        let setting = setting(backend) { error in failures.withLockedValue { $0.append(error.kind) } }
        try setting.update { $0 = 1 }
        // The first heartbeat finds it out.
        try eventually {
            beSilentForAMinute(backend)
            return failures.withLockedValue { !$0.isEmpty }
        }
        #expect(failures.withLockedValue { $0.allSatisfy { $0 == .unavailable } })
        try eventually { backend.state.withLockedValue { $0.statistics.resyncs > 1 && !$0.isStale } }
        #expect(try setting.store.load() == 1)
    }
}
