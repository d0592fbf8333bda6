import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

extension DefaultKey<Int> {
    fileprivate static let number = DefaultKey("number", default: 0)
}

/// Tests suites on storage that other machines write and whose reads lag.
struct LaggingBackendTests {
    /// A backend on which something happens after each commit, before it returns.
    private final class CommitHook: BackendDecorator {
        let base: any DefaultsBackend
        private let afterCommit: @Sendable (CommitOutcome) throws(DefaultsError) -> CommitOutcome
        let traits: BackendTraits

        init(
            _ base: any DefaultsBackend, writeTimeout: Duration = .seconds(2),
            afterCommit: @escaping @Sendable (CommitOutcome) throws(DefaultsError) -> CommitOutcome
        ) {
            (self.base, self.afterCommit) = (base, afterCommit)
            var traits = base.traits
            traits.writeTimeout = writeTimeout
            self.traits = traits
        }

        func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
            try afterCommit(try base.commit(edits, over: generation))
        }
    }

    private let backend = LaggingBackend(["number": 5])
    private let here: DefaultsSuite
    private let there: DefaultsSuite

    init() {
        here = DefaultsSuite(backend: backend)
        there = DefaultsSuite(backend: backend.peer())
    }

    private var stored: SuiteContents { get throws { try DefaultsSuite(backend: backend.peer()).contents() } }

    // Law 6: the result of an update is stored exactly once.

    @Test func whatThisMachineHasNotSeenIsRemoved() throws {
        backend.catchUp()
        there[DefaultKey("other", default: 0)] = 6
        here.remove(["other"])
        #expect(try stored.keys == ["number"])
        there[DefaultKey("other", default: 0)] = 6
        try here.removeAll()
        #expect(try stored.isEmpty)
    }

    /// What this machine reads is what it writes, and not what is stored.
    @Test(arguments: ["save", "assign", "remove"]) func anEqualWriteIsStored(_ way: String) throws {
        let (number, other) = (UserDefault(.number, in: here), DefaultKey("other", default: 0))
        #expect(number.value == 5)
        try there.update { ($0[.number], $0[other]) = (6, 6) }
        switch way {
        case "save": try number.store.save(5)
        case "assign": here[.number] = 5
        default: try UserDefault(other, in: here).store.removeStored()
        }
        #expect(try stored == (way == "remove" ? ["number": 6] : ["number": 5, "other": 6]))
    }

    /// A suite is one value: a body has read all of it.
    @Test(arguments: [true, false]) func aWriteRunsAgainIfAnyKeyHasChanged(isOfSuite: Bool) throws {
        let other = DefaultKey("other", default: 0)
        var bodies = 0
        func increment(_ number: inout Int) {
            bodies += 1
            if bodies == 1 { there[other] = 6 }
            number += here[other]
        }
        if isOfSuite { try here.update { increment(&$0[.number]) } } else { try here.update(.number, increment) }
        #expect(bodies == 2)
        #expect(try stored == ["number": 11, "other": 6])
        // Nothing of that remains for the next write.
        try here.update(.number) { _ in bodies += 1 }
        #expect(bodies == 3)
    }

    @Test func aWriteThatIsAlwaysTooSlowTimesOut() throws {
        let slow = CommitHook(backend, writeTimeout: .milliseconds(20)) { _ in .changedMeanwhile }
        let suite = DefaultsSuite(backend: slow)
        var bodies = 0
        let error = #expect(throws: DefaultsError.self) {
            try suite.update(.number) { number in
                bodies += 1
                number += 1
            }
        }
        #expect(error?.kind == .timedOut)
        #expect(error?.key == "number")
        #expect(bodies > 1)
        #expect(error?.reason.contains("each of the \(bodies) runs") == true)
    }

    /// The body has read values of two commits, which were equal at any time.
    @Test func anErrorBecauseOfAnOutdatedValueIsNone() throws {
        struct Torn: Error {}
        let other = DefaultKey("other", default: 5)
        var bodies = 0
        try here.update { contents in
            bodies += 1
            let number = contents[.number]
            if bodies == 1 {
                try there.update { ($0[.number], $0[other]) = (6, 6) }
                backend.catchUp()
            }
            guard contents[other] == number else { throw Torn() }
            contents[other] = 7
        }
        #expect(bodies == 2)
    }

    /// Another machine commits during each read.
    @Test func aSnapshotIsNeverTorn() {
        final class BusyBackend: BackendDecorator {
            let base: any DefaultsBackend
            let onRead: @Sendable () -> Void
            init(_ base: any DefaultsBackend, _ onRead: @escaping @Sendable () -> Void) {
                (self.base, self.onRead) = (base, onRead)
            }
            func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
                onRead()
                return try base.value(forKey: key)
            }
        }
        let busy = BusyBackend(backend) { [there, backend] in
            try? there.update(.number) { $0 += 1 }
            backend.catchUp()
        }
        let error = #expect(throws: DefaultsError.self) { try DefaultsSuite(backend: busy).contents() }
        #expect(error?.kind == .timedOut)
    }

    // Other writes are retried as well.

    @Test func aValueThatCanBeReadMeanwhileIsNotSetAside() throws {
        let backend = LaggingBackend(["number": "five"])
        let (here, there) = (DefaultsSuite(backend: backend), DefaultsSuite(backend: backend.peer()))
        let failures = Failures(of: here)
        try there.update { $0["number"] = 6 }
        here[.number] = 7
        #expect(try DefaultsSuite(backend: backend.peer()).contents() == ["number": 7])
        #expect(failures.kinds == [])
    }

    @Test func aStepOfAMigrationIsStoredOnce() throws {
        var migrator = DefaultsMigrator()
        migrator.register("double it") { $0[.number] *= 2 }
        #expect(try there.migrate(migrator) == ["double it"])
        #expect(try here.migrate(migrator) == [])
        #expect(try stored[.number] == 10)
    }

    @Test func theNewestValueIsMoved() throws {
        let target = DefaultsSuite(backend: LaggingBackend())
        there[.number] = 6
        #expect(try here.move(.all, to: target).moved == ["number"])
        #expect(target[.number] == 6)
        #expect(try stored.isEmpty)
    }

    @Test func whatTheDestinationHasMeanwhileIsKept() throws {
        let destination = LaggingBackend()
        let (target, other) = (DefaultsSuite(backend: destination), DefaultsSuite(backend: destination.peer()))
        other[.number] = 1
        #expect(try here.move(.all, to: target).kept == ["number"])
        #expect(target[.number] == 1)
        #expect(try stored[.number] == 5)
    }

    @Test func aMoveBetweenTwoMachinesOfOnePlaceLosesNothing() throws {
        there[.number] = 5
        #expect(try here.move(.all, to: there).moved.isEmpty)
        #expect(try stored == ["number": 5])
        backend.catchUp()
        #expect(try here.move(.all, to: there).moved.isEmpty)
        #expect(try stored == ["number": 5])
    }

    // What is read.

    /// A commit can wait for a long time for the other machines.
    @Test func readingDoesNotWaitForACommit() throws {
        let (suite, read) = (Guarded<DefaultsSuite?>(nil), Guarded<[Int]>([]))
        let hook = CommitHook(backend) { outcome in
            onThreads(1) { _ in
                guard let suite = suite.withLock({ $0 }) else { return }
                let key = DefaultKey<Int>.number
                guard let contents = try? suite.contents(), let pair = try? suite.read(key, key) else { return }
                read.withLock { $0 = [contents[key], pair.1] }
            }
            return outcome
        }
        let here = DefaultsSuite(backend: hook)
        suite.withLock { $0 = here }
        try here.update(.number) { $0 = 6 }
        #expect(read.withLock { $0 } == [6, 6])
        suite.withLock { $0 = nil }
    }

    @Test func observersHearOtherMachines() throws {
        let heard = Heard { note in here.observe(.number) { note($0) } }
        there[.number] = 6
        backend.catchUp()
        there[.number] = 7
        // Refused at first, because it depends on what the other machine has changed.
        try here.update(.number) { $0 += 1 }
        here.waitForHandlers()
        let changes = heard.all
        #expect(changes.map(\.newValue) == [6, 7, 8])
        #expect(changes.map(\.origin) == [.external, .external, .local])
    }
}

/// A backend that sends events to its suite.
final class TellingBackend: BackendDecorator {
    let base: any DefaultsBackend = SharedBackend(["number": 5])
    private let handler = Guarded<(@Sendable (BackendEvent) -> Void)?>(nil)
    func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        if let handler { self.handler.withLock { $0 = handler } }
        return false
    }
    func tell(_ event: BackendEvent) { handler.withLock { $0 }?(event) }
}

/// Tests the events that a backend sends to its suite.
struct BackendEventTests {
    @Test func stalenessIsReportedOnceUntilTheValuesAreFresh() throws {
        let backend = TellingBackend()
        let suite = DefaultsSuite(backend: backend)
        let failures = Failures(of: suite)
        let heard = Heard { note in suite.observe(.number) { note($0.newValue) } }
        for _ in 0..<2 { backend.tell(.stale(since: .now)) }
        #expect(failures.kinds == [.unavailable])
        try (backend.base as! SharedBackend).updateFromOutside { $0[.number] = 6 }
        #expect(heard.all == [])
        backend.tell(.changed(keys: []))
        suite.waitForHandlers()
        #expect(heard.all == [6])
        backend.tell(.stale(since: .now))
        suite.waitForHandlers()
        #expect(failures.kinds == [.unavailable, .unavailable])
    }

    /// A backend whose commits are stored, or not, without a reply.
    private final class UncertainBackend: BackendDecorator {
        let base: any DefaultsBackend = SharedBackend(["number": 5])
        private let stores: Bool
        init(stores: Bool) { self.stores = stores }
        func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
            if stores { _ = try base.commit(edits, over: generation) }
            throw DefaultsError(.unknownOutcome, reason: "a test")
        }
    }

    @Test(arguments: [true, false]) func anUnknownOutcomeIsOneOfTwo(stores: Bool) {
        let suite = DefaultsSuite(backend: UncertainBackend(stores: stores))
        let heard = Heard { note in suite.observe(.number) { note($0.newValue) } }
        var bodies = 0
        let error = #expect(throws: DefaultsError.self) {
            try suite.update(.number) { number in
                bodies += 1
                number = 6
            }
        }
        #expect(error?.kind == .unknownOutcome)
        #expect(bodies == 1)
        #expect(suite[.number] == (stores ? 6 : 5))
        suite.waitForHandlers()
        #expect(heard.all == (stores ? [6] : []))
    }
}
