import Foundation
import TestSupport
import Testing
import TypedDefaultsTesting

@testable import TypedDefaults

/// Tests the laws themselves: each of them detects a store that breaks it, and no other law does.
struct StoreLawTests {
    @Test(arguments: StoreLaw.persistent) func aWrongStoreBreaksExactlyItsLaw(law: StoreLaw) async throws {
        var broken: [StoreLaw] = []
        for other in StoreLaw.persistent {
            do {
                try await other.verify {
                    WrongStore(breaking: law)
                } reopening: {
                    $0.reopened()
                }
            } catch let violation as LawViolation {
                broken.append(other)
                #expect(violation.law == "\(other)" && violation.promise == other.promise)
                if other != law { Issue.record(violation) }
            }
        }
        #expect(broken == [law])
    }

    @Test func namesAreUnique() {
        #expect(Set(StoreLaw.persistent).count == StoreLaw.persistent.count)
        #expect(StoreLaw.persistent.count == StoreLaw.all.count + 3)
        #expect(StoreLaw.all.count == StoreLaw.basic.count + StoreLaw.observing.count + 2)
        #expect("\(StoreLaw.lastWriteWins)" == "law 1, lastWriteWins")
    }

    @Test func aViolationSaysWhatWasPromisedAndWhatHappened() async throws {
        let violation = await #expect(throws: LawViolation.self) {
            try await StoreLaw.lastWriteWins.verify { WrongStore(breaking: .lastWriteWins) }
        }
        #expect(
            violation?.description
                == "law 1, lastWriteWins: a value that was stored replaces the one before. "
                + "But after set(_:), get() returned sample 1, not sample 2.")
    }

    /// One thread cannot acquire its lock twice.
    private final class BlockingStore: DefaultStoreType {
        private let value = Guarded<Bool?>(nil)
        func get() -> Bool? { value.withLock { $0 } }
        func set(_ new: Bool) { value.withLock { $0 = new } }
        func remove() { value.withLock { $0 = nil } }
        func updateStored<Result>(_ body: (inout Bool?) throws -> Result) throws -> Result {
            try value.withLock(body)
        }
    }

    @Test func aStoreThatBlocksFailsInTime() async throws {
        let violation = await #expect(throws: LawViolation.self) {
            let law = StoreLaw.readingInsideAnUpdateIsSafe
            try await law.verify(samples: [true, false], within: .milliseconds(100)) { BlockingStore() }
        }
        #expect(violation?.outcome == "the check did not end within 0.1 seconds")
    }

    @Test func whatCannotBeCheckedFails() async throws {
        await #expect(throws: LawViolation.self) {
            try await StoreLaw.emptyReadsNil.verify(samples: [1, 1]) { InMemoryStore<Int>() }
        }
        await #expect(throws: LawViolation.self) {
            try await StoreLaw.noValueIsDescribed.verify(samples: [1, 2]) { InMemoryStore<Int>() }
        }
        await #expect(throws: LawViolation.self) {
            try await StoreLaw.lastWriteWins.verify(samples: [1, .nan, 2]) { InMemoryStore<Double>() }
        }
        try await StoreLaw.noValueIsDescribed.verify(samples: [1, 123_456]) { InMemoryStore<Int>() }
        for law in StoreLaw.persistent where !StoreLaw.all.contains(law) {
            await #expect(throws: LawViolation.self) { try await law.verify { InMemoryStore() } }
        }
    }

    /// Notifies on another thread, as the watch of a file does. Observers write slowly, and others
    /// read slowly.
    private struct LateStore: DefaultStoreType {
        let base = InMemoryStore<LawSample>()
        let queue = DispatchQueue(label: "LateStore")

        func get() -> LawSample? { base.get() }
        func load() throws -> LawSample? {
            usleep(2_000)
            return try base.load()
        }
        func set(_ value: LawSample) { base.set(value) }
        func save(_ value: LawSample) throws {
            if NotificationDepth.current > 0 { usleep(3_000) }
            try base.save(value)
        }
        func remove() { base.remove() }
        func updateStored<Result>(_ body: (inout LawSample?) throws -> Result) throws -> Result {
            try base.updateStored(body)
        }
        func observe(
            initial: Bool, _ handler: @escaping @Sendable (DefaultChange<LawSample>) -> Void
        ) -> ObservationToken {
            base.observe(initial: initial) { change in
                let depth = NotificationDepth.current
                queue.async { NotificationDepth.calling(at: depth) { handler(change) } }
            }
        }
    }

    @Test(arguments: StoreLaw.all) func aStoreThatNotifiesOnAnotherThreadBreaksNone(law: StoreLaw) async throws {
        try await law.verify { LateStore() }
    }

    struct Stop: Error {}

    @Test func anErrorOfTheTestItselfIsThrownUnchanged() async throws {
        await #expect(throws: Stop.self) {
            try await StoreLaw.emptyReadsNil.verify { () -> InMemoryStore<LawSample> in throw Stop() }
        }
    }

    /// The threads of a check use the standard suite of the test that runs it.
    @Test(.isolatedDefaults, arguments: StoreLaw.all)
    func theStandardSuiteOfATestIsUsedOnAllThreads(law: StoreLaw) async throws {
        try await law.verify { PersistentStore<LawSample>() }
        try await law.verify { AnyStore<LawSample>.persistent(in: DefaultsSuite.standard.scoped("scope/")) }
    }

    private final class Refusing: DefaultStoreType {
        typealias Default = LawSample
        let base = InMemoryStore<LawSample>()
        let refused: [LawSample]
        init(_ refused: [LawSample]) { self.refused = refused }
        func get() -> LawSample? { base.get() }
        func set(_ value: LawSample) { try? save(value) }
        func remove() { base.remove() }
        func load() throws -> LawSample? { try base.load() }
        func save(_ value: LawSample) throws {
            if refused.contains(value) { throw DefaultsError(.refused, reason: "") }
            try base.save(value)
        }
    }

    @Test func aStoreMayRefuseAllButTheFirstTwoSamples() async throws {
        let all = LawSample.samples
        try await StoreLaw.valuesReadBackBitForBit.verify { Refusing([all.last!]) }
        await #expect(throws: (any Error).self) {
            try await StoreLaw.valuesReadBackBitForBit.verify { Refusing([all[0]]) }
        }
    }
}
