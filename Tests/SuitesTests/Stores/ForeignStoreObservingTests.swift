import TestSupport
import Testing
import TypedDefaults

/// Observing a store of a program, which reports its changes only if it implements `observe`.
@Suite(.ownThreads) struct ForeignStoreObservingTests {
    private let received = Guarded<[[Int?]]>([])

    private func note(_ change: DefaultChange<Int>) {
        received.withLock { $0.append([change.oldValue, change.newValue]) }
    }

    @Test(arguments: [false, true]) func aStoreOfThreeMethodsMakesTheInitialCallOnly(isBoxed: Bool) async {
        let store = ForeignStore<Int>()
        let box = isBoxed ? AnyStore(AnyStore(store)) : AnyStore(store)
        box.set(4)
        let tokens = [box.observe(initial: true) { note($0) }, box.observe { note($0) }]
        box.set(5)
        store.set(6)
        box.remove()
        #expect(received.withLock { $0 } == [[nil, 4]])
        for token in tokens { token.cancel() }
        box.set(7)
        var iterator = box.values.makeAsyncIterator()
        #expect(await iterator.next() == 7)
    }

    @Test func aStoreThatReportsItsChangesIsHeardThroughBoxes() {
        let store = ReportingStore<CameraConfig>()
        let heard = Heard { note in AnyStore(AnyStore(store)).observe { note($0.newValue?.size) } }
        store.set(CameraConfig(size: .large))
        #expect(heard.all == [.large])
    }

    // On Apple platforms, it goes to the system's log.
    #if !canImport(Darwin) && !canImport(AppleFoundation)
        @Test func aTypeThatReportsNoChangesIsLoggedOnce() async throws {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                for _ in 0..<3 {
                    let number = ForeignStore<Int>()
                    AnyStore(number).observe { _ in }.cancel()
                    PlainForeignDecorator(base: number).observe { _ in }.cancel()
                    ForeignStore<String>().observe(initial: true) { _ in }.cancel()
                    AnyStore(InMemoryStore<Int>()).observe { _ in }.cancel()
                }
            }
            let lines = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
                .split(separator: "\n").filter { $0.contains("implement observe(initial:_:)") }
            #expect(lines.count == 2, "\(lines)")
            for type in ["ForeignStore<Int>", "ForeignStore<String>"] {
                #expect(lines.count { $0.contains(type) } == 1, "\(lines)")
            }
        }

        private struct PlainForeignDecorator: DefaultStoreDecorator {
            typealias Default = Int
            let base: ForeignStore<Int>
        }
    #endif
}
