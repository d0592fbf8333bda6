import Dispatch
import Foundation
import Testing
import TypedDefaults

/// The laws of `DefaultStoreType`, for every store on every backend.
struct StoreLawsTests {
    static let stores = StoreForm.allCases
    static let exclusiveStores = StoreForm.exclusive

    struct Note: DefaultConvertible, Codable {
        static let key = "note"
        var text = ""
        var number = 0.0
        var count = 0
    }

    private func withStore(
        _ form: StoreForm, _ backend: Backend, _ body: (any DefaultStoreType<Note>) throws -> Void
    ) throws {
        try backend.withSuite { try body(form.make(Note(), in: $0)) }
    }

    // Law 1

    @Test(arguments: stores, Backend.allCases)
    func emptyReadsNil(form: StoreForm, backend: Backend) throws {
        try withStore(form, backend) { store in
            #expect(store.get() == nil)
            let loaded = try store.load()
            #expect(loaded == nil)
        }
    }

    @Test(arguments: stores, Backend.allCases)
    func lastWriteWins(form: StoreForm, backend: Backend) throws {
        try withStore(form, backend) { store in
            for count in 1...3 { store.set(Note(count: count)) }
            #expect(store.get()?.count == 3)
            try store.save(Note(count: 4))
            let loaded = try store.load()
            #expect(loaded?.count == 4)
        }
    }

    @Test(arguments: stores, Backend.allCases)
    func removingTwiceIsHarmless(form: StoreForm, backend: Backend) throws {
        try withStore(form, backend) { store in
            store.set(Note())
            store.remove()
            store.remove()
            #expect(store.get() == nil)
            store.set(Note(count: 1))
            #expect(store.get()?.count == 1)
        }
    }

    @Test(arguments: stores, Backend.allCases)
    func aValueReadsBackBitForBit(form: StoreForm, backend: Backend) throws {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        try withStore(form, backend) { store in
            for text in [
                composed, decomposed, composed, "", "$null", "a\u{0}b", String(repeating: "x", count: 100_000),
            ] {
                try store.save(Note(text: text))
                #expect(store.get().map { Array($0.text.utf8) } == Array(text.utf8))
            }
            for number in [0.0, -0.0, 0.1, .infinity, .nan, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, 0.0] {
                guard form.isApart || backend.accepts(["number": .double(number)]) else {
                    let isRefused = fails(with: .refused) { try store.save(Note(number: number)) }
                    #expect(isRefused)
                    continue
                }
                try store.save(Note(number: number))
                #expect(store.get()?.number.bitPattern == number.bitPattern)
            }
        }
    }

    // Law 6

    @Test(arguments: stores, Backend.allCases)
    func updateChangesWhatIsStoredAndReturnsWhatItsBodyReturns(form: StoreForm, backend: Backend) throws {
        try withStore(form, backend) { store in
            let wasMissing = try store.updateStored { note in
                defer { note = Note(count: 1) }
                return note == nil
            }
            #expect(wasMissing)
            try store.updateStored { $0?.count += 1 }
            #expect(store.get()?.count == 2)
            try store.updateStored { $0 = nil }
            #expect(store.get() == nil)
        }
    }

    @Test(arguments: stores, Backend.allCases)
    func anUpdateThatThrowsChangesNothing(form: StoreForm, backend: Backend) throws {
        struct Stop: Error {}
        try withStore(form, backend) { store in
            store.set(Note(count: 1))
            #expect(throws: Stop.self) {
                try store.updateStored {
                    $0?.count = 2
                    throw Stop()
                }
            }
            #expect(store.get()?.count == 1)
        }
    }

    @Test(arguments: exclusiveStores, Backend.allCases)
    func updatesOfManyThreadsAreExact(form: StoreForm, backend: Backend) throws {
        // The full number once; the other combinations share its code, and Foundation takes 20 µs
        // for a write.
        let rounds = form == .persistent && backend == .memory ? 10_000 : 200
        let bodies = Guarded(0)
        try withStore(form, backend) { store in
            store.set(Note())
            onThreads(8) { _ in
                var left = rounds
                while left > 0 {
                    do {
                        try store.updateStored {
                            $0?.count += 1
                            bodies.withLock { $0 += 1 }
                        }
                        left -= 1
                    } catch let error as DefaultsError where error.kind == .timedOut {
                        // On a busy machine, where a write is slow. The body has not run.
                        continue
                    } catch {
                        Issue.record(error)
                        left -= 1
                    }
                }
            }
            #expect(store.get()?.count == 8 * rounds)
            #expect(bodies.withLock { $0 } == 8 * rounds)
        }
    }

    @Test(arguments: exclusiveStores, Backend.allCases)
    func readingInsideAnUpdateReturnsTheCommittedValue(form: StoreForm, backend: Backend) throws {
        try withStore(form, backend) { store in
            store.set(Note(count: 1))
            try store.updateStored {
                $0?.count = 2
                #expect(store.get()?.count == 1)
            }
            #expect(store.get()?.count == 2)
        }
    }

    @Test(arguments: exclusiveStores, Backend.allCases)
    func writingInsideAnUpdateFailsImmediately(form: StoreForm, backend: Backend) throws {
        try withStore(form, backend) { store in
            store.set(Note(count: 1))
            try store.updateStored { note in
                let isSaveRefused = fails(with: .nestedWrite) { try store.save(Note(count: 7)) }
                let isUpdateRefused = fails(with: .nestedWrite) { try store.updateStored { $0 = nil } }
                #expect(isSaveRefused && isUpdateRefused)
                note?.count = 2
            }
            #expect(store.get()?.count == 2)
        }
    }
}

extension StoreForm {
    /// Whether the store is outside the suite that it was created for.
    var isApart: Bool { self == .inMemory || self == .boxedInMemory || self == .foreign }
}
