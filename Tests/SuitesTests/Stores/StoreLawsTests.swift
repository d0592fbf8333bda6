import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Every store of the library on every backend, checked by the laws that users have for theirs.
struct StoreLawsTests {
    struct Kind: Sendable, CustomStringConvertible {
        let form: StoreForm
        let backend: Backend
        var description: String { form.isApart ? "\(form)" : "\(form) on \(backend)" }

        static let all = StoreForm.allCases.flatMap { form in
            Backend.allCases.filter { $0 == .memory || !form.isApart }.map { Kind(form: form, backend: $0) }
        }

        /// Passes a new store to `body`, and another one on the same storage if there can be one.
        func withStores(
            _ body: (any DefaultStoreType<LawSample>, _ reopening: (@Sendable () -> any DefaultStoreType<LawSample>)?)
                async throws -> Void
        ) async throws {
            let suite = try backend.makeSuite()
            defer { backend.clear(suite) }
            let make = { @Sendable in form.make(LawSample(), in: suite) }
            try await body(make(), form.isApart ? nil : make)
        }
    }

    @Test(arguments: Kind.all, StoreLaw.persistent) func laws(kind: Kind, law: StoreLaw) async throws {
        try await kind.withStores { store, reopening in
            guard kind.form.laws.contains(law) else { return }
            func verify<Store: DefaultStoreType<LawSample>>(_ store: Store) async throws {
                guard let reopening else { return try await law.verify { store } }
                try await law.verify {
                    store
                } reopening: { _ in
                    reopening() as! Store
                }
            }
            try await verify(store)
        }
    }

    /// Only Foundation's settings refuse values, those in the table of the documentation.
    @Test(arguments: Kind.all) func noOtherValuesAreRefused(kind: Kind) async throws {
        try await kind.withStores { store, _ in
            for (index, sample) in LawSample.samples.enumerated() {
                let isAccepted = try kind.form.isApart || kind.backend.accepts(encoded(sample))
                let isRefused = fails(with: .refused) { try store.save(sample) }
                #expect(isRefused != isAccepted, "sample \(index + 1)")
                #expect(isRefused || store.get() == sample)
            }
        }
    }

    private func encoded(_ sample: LawSample) throws -> PropertyList {
        let suite = DefaultsSuite.inMemory()
        try PersistentStore<LawSample>(in: suite).save(sample)
        return try #require(try suite.contents()[LawSample.key])
    }

    /// The full number of rounds once, because all other stores and backends share this code.
    @Test func updatesOfManyThreadsAreExact() throws {
        let number = UserDefault(DefaultKey("number", default: 0), in: .inMemory())
        onThreads(8) { _ in
            for _ in 0..<2_000 {
                do { try number.update { $0 += 1 } } catch { Issue.record(error) }
            }
        }
        #expect(number.value == 16_000)
    }

    /// Writes different data for equal values, as encryption with a nonce does.
    private struct EncryptedStore: DefaultStoreDecorator {
        typealias Default = LawSample
        let base: AnyStore<Data>
        func value(from stored: Data) throws -> LawSample {
            try PropertyListDecoder().decode(LawSample.self, from: Data(stored.dropFirst().map { $0 ^ stored[0] }))
        }
        func stored(from value: LawSample) throws -> Data {
            let nonce = UInt8.random(in: 0...255)
            return Data([nonce]) + Data(try PropertyListEncoder().encode(value).map { $0 ^ nonce })
        }
    }

    @Test(arguments: StoreLaw.all) func lawsOfAnEncryptingStore(law: StoreLaw) async throws {
        // The other samples depend on Foundation's encoder.
        let samples = Array(LawSample.samples.prefix(2))
        try await law.verify(samples: samples) {
            EncryptedStore(base: UserDefault("data", default: Data(), in: .inMemory()).store)
        }
    }

    private struct Whole: DefaultConfig {
        static let key = "Whole"
        var part = LawSample.samples[2]
        var other = 7
    }

    /// A part of a config always has a value, so a mapped store keeps all laws except those that
    /// remove it.
    @Test(arguments: StoreLaw.all) func lawsOfAMappedStore(law: StoreLaw) async throws {
        let needRemoval: [StoreLaw] = [
            .removingTwiceIsHarmless, .observersHearEachChangeOnce, .observersHearChangesInOrder, .updatesReadAndWrite,
        ]
        func verify(within timeout: Duration) async throws {
            try await law.verify(within: timeout) { AnyStore<Whole>.inMemory().map(\.part) }
        }
        if needRemoval.contains(law) {
            await #expect(throws: LawViolation.self) { try await verify(within: .seconds(1)) }
        } else {
            try await verify(within: .seconds(60))
        }
    }
}

extension StoreForm {
    /// Whether the store is outside the suite that it was created for.
    var isApart: Bool { [.inMemory, .boxedInMemory, .decorated, .foreign, .reporting].contains(self) }

    var laws: [StoreLaw] {
        switch self {
        case .foreign: StoreLaw.basic
        case .reporting: StoreLaw.basic + StoreLaw.observing
        default: isApart ? StoreLaw.all : StoreLaw.persistent
        }
    }
}
