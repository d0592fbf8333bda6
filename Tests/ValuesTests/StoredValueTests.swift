import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests the comparison of stored values by their bytes, and the encoding of values that cannot be
/// written in order.
struct StoredValueTests {
    /// A type that encodes itself by a function.
    private struct Written: Encodable {
        let write: @Sendable (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { return nil }
    }

    private final class ContainerBox: @unchecked Sendable {
        @exclusivity(unchecked)
        var container: KeyedEncodingContainer<Key>?
    }

    private func stored(_ value: some Encodable) throws -> PropertyList {
        try #require(try PropertyList.encoding(value, RootTraits(type(of: value))))
    }

    private func keyed(
        _ write: @escaping @Sendable (inout KeyedEncodingContainer<Key>) throws -> Void
    ) throws -> PropertyList {
        try stored(
            Written { encoder in
                var container = encoder.container(keyedBy: Key.self)
                try write(&container)
            })
    }

    @Test func valuesInAnotherOrderAreEqual() throws {
        let one = try keyed { container in
            try container.encode(1, forKey: Key("a"))
            try container.encode(["x": 1, "y": 2], forKey: Key("b"))
        }
        let other = try keyed { container in
            try container.encode(["y": 2, "x": 1], forKey: Key("b"))
            try container.encode(1, forKey: Key("a"))
        }
        #expect(one == other)
    }

    /// Keys of all short lengths, half of them taken from a few letters so that many repeat.
    @Test func randomKeysHaveTheirLastValue() throws {
        var generator = SystemRandomNumberGenerator()
        for round in 0..<2_000 {
            let letters = Array(round.isMultiple(of: 2) ? "ab" : "abcdefghijklmnopqrstuvwxyzé")
            let keys = (0..<Int.random(in: 1...24, using: &generator)).map { _ in
                String((0..<Int.random(in: 0...(round % 20), using: &generator)).map { _ in letters.randomElement()! })
            }
            var last: [String: PropertyList] = [:]
            for (number, key) in keys.enumerated() { last[key] = .integer(Int64(number)) }
            let value = try keyed { container in
                for (number, key) in keys.enumerated() { try container.encode(number, forKey: Key(key)) }
            }
            #expect(value == .dictionary(last), "\(keys)")
        }
    }

    @Test func theTableOfNativeTypesIsComplete() {
        let types: [any Codable.Type] = [
            Bool.self, String.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
            UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, Data.self, Date.self, URL.self, Decimal.self,
            Int?.self, [Int].self, [String: Int].self, Set<Int>.self, UUID.self,
        ]
        for type in types {
            #expect((NativeTypes[type] != nil) == (type is any NativeValue.Type), "\(type)")
            if let native = NativeTypes[type] { #expect(ObjectIdentifier(native) == ObjectIdentifier(type)) }
        }
    }

    @Test func aKeyThatIsWrittenTwiceHasItsLastValue() throws {
        let value = try keyed { container in
            try container.encode(1, forKey: Key("a"))
            try container.encode(2, forKey: Key("b"))
            try container.encode(3, forKey: Key("a"))
        }
        #expect(value == ["a": 3, "b": 2])
    }

    @Test func manyKeysAreWrittenAsBytes() throws {
        let entries = Dictionary(uniqueKeysWithValues: (0..<300).map { ("key \($0)", $0) })
        let value = try stored(entries)
        #expect(value == .dictionary(entries.mapValues { .integer(.init($0)) }))
    }

    @Test func twoFormsOfOneTextAreRefused() {
        #expect(throws: EncodingError.self) {
            try keyed { container in
                try container.encode(1, forKey: Key("\u{E9}"))
                try container.encode(2, forKey: Key("e\u{301}"))
            }
        }
    }

    /// The bytes that a failed value has written are not part of the result.
    @Test func aTypeMayCatchTheErrorOfAValue() throws {
        struct Failure: Error {}
        let failing = Written { encoder in
            var container = encoder.unkeyedContainer()
            try container.encode("written")
            throw Failure()
        }
        let value = try keyed { container in
            try container.encode(1, forKey: Key("a"))
            do { try container.encode(failing, forKey: Key("b")) } catch is Failure {}
            try container.encode([2], forKey: Key("c"))
        }
        #expect(value == ["a": 1, "c": [2]])
    }

    /// A container that is used after its value has ended changes nothing.
    @Test func aContainerCanBeUsedTooLate() throws {
        let box = ContainerBox()
        let value = try stored([
            Written { encoder in box.container = encoder.container(keyedBy: Key.self) },
            Written { encoder in
                try? box.container?.encode(1, forKey: Key("late"))
                _ = box.container?.nestedContainer(keyedBy: Key.self, forKey: Key("nested"))
                var container = encoder.singleValueContainer()
                try container.encode("text")
            },
        ])
        try box.container?.encode("$null", forKey: Key("later"))
        _ = box.container?.superEncoder()
        #expect(value == [[:], "text"])
    }

    /// - Parameter isRead: Whether the suite holds the value as a tree, as after reading a file.
    @Test(arguments: [false, true]) func anEqualValueIsStoredWithoutTheLockOfTheWriters(isRead: Bool) throws {
        let config = CameraConfig(savesToCameraRoll: false)
        let suite = DefaultsSuite.inMemory(isRead ? [CameraConfig.key: try PropertyList(encoding: config)] : [:])
        let store = PersistentStore<CameraConfig>(in: suite)
        #expect(store.get() == (isRead ? config : nil))
        store.set(config)
        // Another thread is inside an update for as long as this set takes.
        let (isInside, isWritten, isDone) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            try? store.updateStored { _ in
                isInside.signal()
                isWritten.wait()
            }
            isDone.signal()
        }
        isInside.wait()
        #expect(throws: Never.self) { try store.save(config) }
        isWritten.signal()
        isDone.wait()
        #expect(store.get() == config)
    }
}
