import SwiftUI
import Testing

@MainActor struct SwiftUIStubTests {
    @MainActor private final class Model { var name = "a" }
    private struct Label: View {
        @Binding var name: String
        var body: some View { Text(name) }
    }

    @Test func aViewReadsAndWritesThroughItsBinding() {
        let model = Model()
        let label = Label(name: Binding(get: { @MainActor in model.name }, set: { @MainActor in model.name = $0 }))
        label.name = "b"
        #expect(model.name == "b")
        #expect((label.body as? Text)?.content == "b")
    }

    @Test func theEnvironmentHoldsADefaultUntilItIsSet() {
        enum Key: EnvironmentKey { static let defaultValue = 1 }
        var values = EnvironmentValues()
        #expect(values[Key.self] == 1)
        values[Key.self] = 2
        #expect(values[Key.self] == 2)
    }
}
