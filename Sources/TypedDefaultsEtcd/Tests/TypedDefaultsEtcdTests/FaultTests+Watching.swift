import NIOConcurrencyHelpers
import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

/// What happens when a watch is late, ends, or sends something unexpected.
extension FaultTests {
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
}
