import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

@Suite(.collectsIssues) struct StoreDoublesTests {
    @Test func callsAreRecordedInOrder() throws {
        struct Stop: Error {}
        let store = RecordingStore(InMemoryStore<CameraConfig>())
        let box = AnyStore(store)
        box.set(CameraConfig(size: .small))
        #expect(box.get()?.size == .small)
        try box.update(default: CameraConfig()) { $0.size = .large }
        #expect(throws: Stop.self) { try box.updateStored { _ in throw Stop() } }
        try box.save(CameraConfig())
        #expect(try box.load() != nil)
        box.remove()
        let token = box.observe { _ in }
        token.cancel()
        #expect(
            store.calls.map { "\($0)".prefix { $0 != "(" } } == [
                "set", "get", "update", "update", "save", "load", "remove", "observe",
            ])
        guard case .update(let new) = store.calls[2] else { return #expect(Bool(false)) }
        #expect(new?.size == .large)
        guard case .update(nil) = store.calls[3] else { return #expect(Bool(false)) }
        store.removeAllCalls()
        #expect(store.calls.isEmpty)
    }

    @Test func eachUseOfAnUnimplementedStoreIsRecordedWhereItWasCreated() throws {
        let line: Int = #line + 1
        let store = AnyStore(UnimplementedStore<CameraConfig>())
        func expectIssue(_ name: String, _ use: () throws -> Void) throws {
            let issues = try CollectedIssues.of(use)
            #expect(issues.map(\.line) == [line])
            #expect(issues.first?.sourceLocation?.fileName == "StoreDoublesTests.swift")
            #expect(issues.first?.text.hasPrefix("\(name) of a store of CameraConfig") == true)
        }
        try expectIssue("get()") { #expect(store.get() == nil) }
        try expectIssue("set(_:)") { store.set(CameraConfig()) }
        try expectIssue("remove()") { store.remove() }
        try expectIssue("load()") { _ = try store.load() }
        try expectIssue("save(_:)") { try store.save(CameraConfig()) }
        try expectIssue("updateStored(_:)") { try store.updateStored { $0 = nil } }
        try expectIssue("observe(initial:_:)") { store.observe { _ in }.cancel() }
    }

    @Test func aRecordingStoreRemoves() {
        let store = RecordingStore(InMemoryStore(CameraConfig()))
        store.remove()
        #expect(store.get() == nil)
    }
}
