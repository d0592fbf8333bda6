import Observation
import Testing
import TypedDefaults

#if MainActorClient
    import MainActorPreferences
#else
    import Preferences
#endif

@MainActor struct PaneTests {
    let suite = DefaultsSuite.inMemory()
    var store: AnyStore<EditorConfig> { .persistent(in: suite) }

    @Test func applyWritesTheEditedPropertiesOnly() throws {
        let (pane, other) = (EditorPane(store: store), EditorPane(store: store))
        pane.draft.value.font = "Courier"
        other.draft.value.size = 18
        try other.apply()
        try pane.apply()
        #expect(store.value.font == "Courier")
        #expect(store.value.size == 18)
        // What no window edited is not stored, so the next release can change its default.
        #expect(try suite.contents()["Editor"] == ["font": "Courier", "size": 18])
        // The pane shows the change of the other window.
        #expect(pane.draft.value == store.value)
    }

    @Test func revertTakesTheChangeOfAnotherWindow() throws {
        let pane = EditorPane(store: store)
        pane.draft.value.font = "Courier"
        try store.update { $0.size = 18 }
        pane.revert()
        #expect(pane.draft.value == store.value)
        #expect(pane.draft.value.font == "Menlo")
        #expect(pane.draft.value.size == 18)
    }

    @Test func aViewOfThePaneIsUpdated() {
        let pane = EditorPane(store: store)
        // Safe: used on the main actor only, where the changes are made.
        final class Count: Sendable {
            nonisolated(unsafe) var value = 0
        }
        let fired = Count()
        withObservationTracking {
            _ = pane.canApply
        } onChange: {
            fired.value += 1
        }
        #expect(fired.value == 0)
        pane.draft.value.size = 18
        #expect(fired.value == 1)
    }
}
