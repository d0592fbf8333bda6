import Foundation
import Observation
import SettingsFile
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests settings that are used once, with keys that are created at run time, and without a store.
struct UnusedSettingsTests {
    private struct Holder: Codable, Sendable { var item = Item() }

    /// Counts the values that the suite retains after reading them.
    private final class Item: Codable, Sendable {
        static let count = Guarded(0)
        init() { Self.count.withLock { $0 += 1 } }
        convenience init(from decoder: any Decoder) { self.init() }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode("item")
        }
        deinit { Self.count.withLock { $0 -= 1 } }
    }

    /// The suite keeps what it has decoded of a stored value, and forgets a name without one.
    @Test func namesWithoutAValueAreForgotten() throws {
        let keys = (0..<2_000).map { "key-\($0)" }
        let suite = DefaultsSuite.inMemory(
            Dictionary(uniqueKeysWithValues: keys.map { ($0, ["item": "item"] as PropertyList) })
        ).quiet
        for key in keys { #expect(suite[DefaultKey<Holder?>(key)] != nil) }
        #expect(Item.count.withLock { $0 } == keys.count)
        suite.remove(keys)
        #expect(Item.count.withLock { $0 } == 0)
        #expect(suite.core.state.withLock { $0.table.count } < 200)
        for key in keys {
            let key = DefaultKey<Int?>(key)
            #expect(suite[key] == nil)
            suite[key] = 1
            suite[key] = nil
        }
        #expect(suite.core.state.withLock { $0.table.count } < 200)
        for key in keys {
            let key = DefaultKey<Int?>(key)
            try suite.update { $0[key] = 1 }
            try suite.update { $0[key] = nil }
        }
        #expect(suite.core.state.withLock { $0.table.count } < 200)
    }

    /// More keys than the table of recent slots has room for.
    @Test func eachOfManyKeysHasItsValue() {
        let suite = DefaultsSuite.inMemory()
        let keys = (0..<2_000).map { DefaultKey("key-\($0)", default: -1) }
        #expect(keys.allSatisfy { suite[$0] == -1 })
        for round in 0..<3 {
            for (number, key) in keys.enumerated() { suite[key] = number + round }
            #expect(keys.indices.allSatisfy { suite[keys[$0]] == $0 + round })
        }
    }

    @Test func settingsInUseAreKept() throws {
        let backend = SpyBackend(["unreadable": "no number"])
        let suite = DefaultsSuite(backend: backend, layers: [.arguments(["bad": "seven"]), .stored])
        let failures = Failures(of: suite)
        let key = DefaultKey("held", default: 0)
        let held = UserDefault(key, in: suite).store
        let (received, all, tracked) = (Guarded<[Int?]>([]), Guarded<[[String]]>([]), Guarded(0))
        let tokens = [
            UserDefault(DefaultKey("observed", default: 0), in: suite).store.observe { change in
                received.withLock { $0.append(change.newValue) }
            },
            suite.observeAll { change in all.withLock { $0.append(change.keys) } },
        ]
        tracked.track { _ = suite[DefaultKey("tracked", default: 0)] }
        func readOthers() {
            for number in 0..<20_000 { _ = suite[DefaultKey("other-\(number)", default: 0)] }
            _ = suite[DefaultKey("unreadable", default: 0)] + suite[DefaultKey("bad", default: 0)]
        }
        readOthers()
        readOthers()
        suite[key] = 1
        suite[DefaultKey("observed", default: 0)] = 2
        suite[DefaultKey("tracked", default: 0)] = 3
        suite[DefaultKey("other-7", default: 0)] = 4
        suite.remove(["other-7"])
        #expect(held.get() == 1)
        #expect(received.withLock { $0 } == [2])
        #expect(tracked.withLock { $0 } == 1)
        #expect(all.withLock { $0 } == [["held"], ["observed"], ["tracked"], ["other-7"], ["other-7"]])
        // Each failure is reported once.
        #expect(failures.kinds == [.unreadable, .unreadable])
        for token in tokens { token.cancel() }
    }
}
