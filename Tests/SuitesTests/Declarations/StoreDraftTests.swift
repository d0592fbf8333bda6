import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

private struct Lens: DefaultConfig, Equatable {
    static let key = "Lens"
    static let rules: [DefaultRule<Lens>] = [.on(\.zoom, .clamped(to: 1...10)), .on(\.aperture, .in(1.4...22))]
    var zoom = 1.0
    var aperture = 2.8
    var name: String? = "Ann"
    var modes = ["a"]
}

struct StoreDraftTests {
    @Test(arguments: Backend.allCases)
    func onlyEditedPropertiesAreWritten(backend: Backend) throws {
        try backend.withSuite { suite in
            let store = AnyStore<Lens>.persistent(in: suite)
            var draft = store.draft()
            #expect(!draft.isChanged)
            draft.value.aperture = 4
            #expect(draft.isChanged)
            #expect(try suite.contents().isEmpty)
            // Another window.
            try store.update { $0.zoom = 9 }
            try draft.apply()
            #expect(store.value == Lens(zoom: 9, aperture: 4))
            #expect(try suite.contents()["Lens"] == ["zoom": 9.0, "aperture": 4.0])
            #expect(draft.value == store.value)
            #expect(!draft.isChanged)
        }
    }

    @Test func aRefusedDraftKeepsItsValue() throws {
        let store = AnyStore<Lens>.persistent(in: DefaultsSuite(backend: FailingBackend(.commit)))
        var draft = store.draft()
        draft.value.aperture = 4
        #expect(fails(with: .unavailable) { try draft.apply() })
        #expect(draft.value.aperture == 4 && draft.isChanged)
    }

    @Test func aRefusedPropertyWritesNothingAndAClampedOneIsClamped() throws {
        let suite = DefaultsSuite.inMemory()
        let store = PersistentStore<Lens>(in: suite)
        var draft = store.draft()
        (draft.value.aperture, draft.value.modes) = (99, ["b"])
        #expect(fails(with: .invalid) { try draft.apply() })
        #expect(try suite.contents().isEmpty)
        #expect(draft.value == Lens(aperture: 99, modes: ["b"]))
        draft.revert()
        #expect(draft.value == Lens())
        draft.value.zoom = 99
        try draft.apply()
        #expect(draft.value.zoom == 10)
        #expect(store.value == Lens(zoom: 10))
    }
}
