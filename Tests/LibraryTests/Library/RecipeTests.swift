import Foundation
import TestSupport
import Testing
import TypedDefaults

/// The published recipes, in each form of declaration.
struct RecipeTests {
    @Test func twoStructsStayInStep() {
        let suite = DefaultsSuite.inMemory()
        struct Holder {
            @UserDefault var number: Int
            init(_ suite: DefaultsSuite) { _number = UserDefault("number", defaultValue: 10, in: suite) }
        }
        let (first, second) = (Holder(suite), Holder(suite))
        let received = Heard { note in first.$number.observe(initial: true) { note($0.newValue) } }
        first.number = 20
        #expect(second.number == 20)
        second.number = 30
        #expect(first.number == 30)
        for number in [40, 50] { first.$number.value = number }
        second.$number.store.set(60)
        suite[DefaultKey("number", default: 10)] = 70
        received.cancel()
        #expect(received.all == [10, 20, 30, 40, 50, 60, 70])
        #expect(first.number == 70 && second.number == 70)
    }
}
