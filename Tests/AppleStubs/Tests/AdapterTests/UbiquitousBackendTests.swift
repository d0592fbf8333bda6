import AppleFoundation
import Observation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import TypedDefaultsCloud

/// Tests iCloud's key-value store with several simulated devices.
struct UbiquitousBackendTests {
    private struct Device {
        let store: NSUbiquitousKeyValueStore
        let suite: DefaultsSuite
        let failures: Failures

        init(_ cloud: StubCloud, isEntitled: Bool = true) {
            store = NSUbiquitousKeyValueStore(cloud: cloud)
            store.isEntitled = isEntitled
            suite = DefaultsSuite(backend: UbiquitousBackend(store: store))
            failures = Failures(of: suite)
        }

        subscript(key: String) -> Int? {
            get { suite[DefaultKey<Int?>(key)] }
            nonmutating set { suite[DefaultKey<Int?>(key)] = newValue }
        }

        func observe(_ key: String, _ received: Guarded<[Int?]>) -> ObservationToken {
            UserDefault(DefaultKey<Int?>(key), in: suite).store.observe { change in
                #expect(change.origin == .external)
                received.withLock { $0.append(change.newValue ?? nil) }
            }
        }
    }

    @Test func aChangeReachesObserversOnAnotherDeviceOnce() throws {
        let cloud = StubCloud()
        let (phone, pad) = (Device(cloud), Device(cloud))
        let (received, tracked) = (Guarded<[Int?]>([]), Guarded(0))
        let token = pad.observe("a", received)
        phone["a"] = 1
        #expect(phone["a"] == 1)
        #expect(pad["a"] == nil)
        withObservationTracking {
            _ = pad["a"]
        } onChange: {
            tracked.withLock { $0 += 1 }
        }
        cloud.deliver()
        #expect(pad["a"] == 1)
        pad.suite.waitForHandlers()
        #expect(received.now == [1])
        #expect(tracked.now == 1)
        cloud.deliver()
        phone["a"] = nil
        cloud.deliver()
        #expect(try pad.suite.keys() == [])
        pad.suite.waitForHandlers()
        #expect(received.now == [1, nil])
        token.cancel()
    }

    // Notifications inside calls

    @Test func aNotificationInsideACallIsProcessed() throws {
        let cloud = StubCloud()
        let (phone, pad) = (Device(cloud), Device(cloud))
        pad.store.postsInsideCalls = true
        cloud.deliver()
        let received = Guarded<[Int?]>([])
        let token = pad.observe("a", received)
        // The notification comes in a read, in the list of the keys, in a write and in an update.
        let calls: [() throws -> Void] = [
            { _ = pad["b"] }, { _ = try pad.suite.keys() }, { pad["b"] = 1 },
            { try pad.suite.update(DefaultKey("b", default: 0)) { $0 += 1 } }, { try pad.suite.synchronize() },
        ]
        for (index, call) in calls.enumerated() {
            phone["a"] = index
            cloud.deliver()
            try call()
            #expect(pad["a"] == index)
            pad.suite.waitForHandlers()
            #expect(received.now == Array(0...index))
        }
        #expect(pad["b"] == 2)
        #expect(pad.failures.kinds == [])
        token.cancel()
    }

    @Test func anObserverInsideACallMayUseTheSuite() throws {
        let cloud = StubCloud()
        let (phone, pad) = (Device(cloud), Device(cloud))
        pad.store.postsInsideCalls = true
        cloud.deliver()
        let (seen, suite) = (Guarded<[Int?]>([]), pad.suite)
        let token = NotificationCenter.default.addObserver(
            forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: pad.store, queue: nil
        ) { _ in
            // Also from another thread, while this one waits in the call of the store.
            onThreads(1) { _ in seen.withLock { $0.append(suite[DefaultKey<Int?>("a")]) } }
        }
        phone["a"] = 5
        cloud.deliver()
        pad["b"] = 1
        #expect(seen.now == [5])
        #expect(pad["b"] == 1)
        #expect(pad.failures.kinds == [])
        NotificationCenter.default.removeObserver(token)
    }

    @Test(arguments: BackendLaw.all) func lawsHold(law: BackendLaw) async throws {
        try await law.verify { UbiquitousBackend(store: NSUbiquitousKeyValueStore(cloud: StubCloud())) }
    }

    @Test func theSuiteIsTheStoreOfTheProgram() {
        DefaultsSuite.ubiquitous[DefaultKey<Int?>("theSuiteIsTheStoreOfTheProgram")] = 1
        #expect(NSUbiquitousKeyValueStore.default.object(forKey: "theSuiteIsTheStoreOfTheProgram") as? Int == 1)
    }

    // Conflicts

    @Test func theLaterChangeWinsOnAllDevices() {
        let cloud = StubCloud()
        let (phone, pad) = (Device(cloud), Device(cloud))
        cloud.deliver()
        let received = Guarded<[Int?]>([])
        phone["a"] = 0
        cloud.deliver()
        let token = phone.observe("a", received)
        pad["a"] = 2
        phone["b"] = 1
        pad["b"] = 3
        cloud.deliver()
        #expect([phone["a"], pad["a"], phone["b"], pad["b"]] == [2, 2, 3, 3])
        phone.suite.waitForHandlers()
        #expect(received.now == [2])
        token.cancel()
    }

    @Test func valuesInICloudWinAtTheFirstSynchronization() {
        let cloud = StubCloud()
        let phone = Device(cloud)
        phone["a"] = 1
        cloud.deliver()
        let pad = Device(cloud)
        pad["a"] = 2
        pad["b"] = 2
        let received = Guarded<[Int?]>([])
        let token = pad.observe("a", received)
        cloud.deliver()
        #expect([phone["a"], pad["a"], phone["b"], pad["b"]] == [1, 1, 2, 2])
        pad.suite.waitForHandlers()
        #expect(received.now == [1])
        token.cancel()
        // A naive adapter would treat this as an ordinary change.
        #expect(pad.failures.kinds == [.refused])
        #expect(pad.failures.all.map(\.key) == ["a"])
        pad["a"] = 3
        cloud.deliver()
        #expect(phone["a"] == 3)
        #expect(phone.failures.kinds == [])
        #expect(pad.failures.kinds.count == 1)
    }

    @Test func anotherAccountReplacesAllValues() {
        let (cloud, other) = (StubCloud(), StubCloud())
        let (phone, friend) = (Device(cloud), Device(other))
        friend["a"] = 7
        phone["a"] = 1
        phone["b"] = 1
        cloud.deliver()
        other.deliver()
        phone["c"] = 1
        let (a, b) = (Guarded<[Int?]>([]), Guarded<[Int?]>([]))
        let tokens = [phone.observe("a", a), phone.observe("b", b)]
        phone.store.changeAccount(to: other)
        // This is checked before any read, because a read would also detect the change.
        phone.suite.waitForHandlers()
        #expect(a.now == [7])
        #expect(b.now == [nil])
        #expect([phone["a"], phone["b"], phone["c"]] == [7, nil, nil])
        for token in tokens { token.cancel() }
    }

    // Limits

    @Test func writesBeyondTheLimitsAreRefusedAndChangeNothing() throws {
        let phone = Device(StubCloud())
        let longest = String(repeating: "é", count: 32)
        phone[longest] = 1
        #expect(phone[longest] == 1)
        #expect(phone.failures.kinds == [])
        phone[longest + "k"] = 1
        let text = DefaultKey("text", default: "")
        phone.suite[text] = String(repeating: "a", count: 1_000_001)
        phone.suite[text] = String(repeating: "a", count: 900_000)
        #expect(phone.suite[text].utf8.count == 900_000)
        phone.suite[DefaultKey("more", default: "")] = String(repeating: "b", count: 100_001)
        #expect(phone.failures.kinds == [.refused, .refused, .refused])
        #expect(phone.failures.all.map(\.key) == [longest + "k", "text", "more"])
        #expect(try phone.suite.keys() == ["text", longest])
    }

    @Test func tooManyKeysAreRefusedUntilSomeAreRemoved() throws {
        let phone = Device(StubCloud())
        for index in 0..<1_024 { phone.store.set(index, forKey: "k\(index)") }
        phone["one more"] = 1
        #expect(phone.failures.kinds == [.refused])
        phone["k0"] = nil
        phone["one more"] = 1
        phone["k1"] = 7
        #expect(phone.failures.kinds.count == 1)
        #expect(try phone.suite.keys().count == 1_024)
    }

    @Test func anAdapterWithoutChecksCrashesOrLosesTheValue() async {
        await #expect(processExitsWith: .failure) {
            NSUbiquitousKeyValueStore.default.set(1, forKey: String(repeating: "k", count: 65))
        }
        let cloud = StubCloud()
        let (phone, pad) = (NSUbiquitousKeyValueStore(cloud: cloud), NSUbiquitousKeyValueStore(cloud: cloud))
        phone.set(String(repeating: "a", count: 2 << 20), forKey: "a")
        cloud.deliver()
        #expect(pad.object(forKey: "a") == nil)
    }

    @Test func exceedingTheLimitsTogetherReportsAFailure() {
        let cloud = StubCloud()
        let (phone, pad) = (Device(cloud), Device(cloud))
        cloud.deliver()
        let (one, two) = (DefaultKey("one", default: ""), DefaultKey("two", default: ""))
        phone.suite[one] = String(repeating: "a", count: 600_000)
        pad.suite[two] = String(repeating: "b", count: 600_000)
        cloud.deliver()
        #expect(phone.failures.kinds == [])
        #expect(pad.failures.kinds == [.refused])
        #expect(pad.failures.all.map(\.key) == ["two"])
    }

    @Test func synchronizingWithoutTheEntitlementFails() {
        let phone = Device(StubCloud(), isEntitled: false)
        #expect(fails(with: .unavailable) { try phone.suite.synchronize() })
    }

    @Test func valuesThatWouldChangeAreRefused() throws {
        let suite = Device(StubCloud()).suite
        func save(_ value: PropertyList, _ key: String) throws {
            try UserDefault(DefaultKey<PropertyList?>(key), in: suite).store.save(value)
        }
        for double in [-Double.nan, .signalingNaN, Double(nan: 5, signaling: false)] {
            for value: PropertyList in [.double(double), [.double(double)], ["a": [1, .double(double)]]] {
                #expect(fails(with: .refused) { try save(value, "a") })
            }
        }
        #expect(fails(with: .refused) { try save(1, "e\u{301}") })
        #expect(try suite.keys() == [])
        try save(.double(.nan), "\u{E9}")
        #expect(try suite.keys() == ["\u{E9}"])
    }

    @Test func valuesReadBackExactly() throws {
        let phone = Device(StubCloud())
        for value: PropertyList in [2, 2.0, true, "\u{E9}", [1, "a", ["k": 1.5]], .data(Data([0])), -0.0] {
            phone.suite[DefaultKey<PropertyList?>("a")] = value
            #expect(phone.suite[DefaultKey<PropertyList?>("a")] == value)
        }
    }

    @Test func aDeallocatedBackendReceivesNoChanges() {
        let cloud = StubCloud()
        let store = NSUbiquitousKeyValueStore(cloud: cloud)
        weak var backend: UbiquitousBackend?
        do {
            let own = UbiquitousBackend(store: store)
            backend = own
            _ = DefaultsSuite(backend: own)
        }
        #expect(backend == nil)
        store.changeAccount(to: StubCloud())
    }
}
