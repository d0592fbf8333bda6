import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// The order in which sets are stored. It is part of the format: another order would be a change of
/// the value.
struct StoredOrderTests {
    private static let sorted: [PropertyList] = [
        -2, -1, 0, 1, 9_223_372_036_854_775_808, 1.5, 2.5, "", "a", "b", false, true,
        .data(Data([1])), .data(Data([2])), .data(Data([0, 0])),
        .date(Date(timeIntervalSinceReferenceDate: 1)), .date(Date(timeIntervalSinceReferenceDate: 2)),
        [], [false], [true], [-2], [-1], [0], [1], [1.5], ["a"], ["b"],
        [:], ["a": 1], ["a": 2], ["b": 0],
    ]

    @Test func elementsOfASetHaveOneOrder() {
        for seed in 0..<50 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let shuffled = PropertyList.array(Self.sorted.shuffled(using: &generator))
            #expect(shuffled.ordered(as: Set<String>.self) == .array(Self.sorted), "seed \(seed)")
        }
    }

    @Test func keysOfADictionaryKeepTheirValues() {
        let stored: PropertyList = [[2], "two", [1], "one", [-1], "minus one"]
        #expect(stored.ordered(as: [[Int]: String].self) == [[-1], "minus one", [1], "one", [2], "two"])
    }

    @Test func listsKeepTheirOrder() {
        #expect((["b", "a"] as PropertyList).ordered(as: [String].self) == ["b", "a"])
    }
}
