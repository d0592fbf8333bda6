import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests the encoding of values that are not written in order, and writes of an equal value.
struct StoredValueTests {
    /// A type that encodes itself by a function.
    private struct Written: Encodable {
        let write: @Sendable (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    private final class ContainerBox: @unchecked Sendable {
        @exclusivity(unchecked)
        var container: KeyedEncodingContainer<AnyKey>?
    }

    private func stored(_ value: some Encodable) throws -> PropertyList {
        try #require(try PropertyList.encoding(value, RootTraits(type(of: value))))
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
            let value = try stored(
                Written { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    for (number, key) in keys.enumerated() {
                        try container.encode(number, forKey: AnyKey(stringValue: key))
                    }
                })
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

    /// A container that is used after its value has ended changes nothing.
    @Test func aContainerCanBeUsedTooLate() throws {
        let box = ContainerBox()
        let value = try stored([
            Written { encoder in box.container = encoder.container(keyedBy: AnyKey.self) },
            Written { encoder in
                try? box.container?.encode(1, forKey: AnyKey(stringValue: "late"))
                _ = box.container?.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(stringValue: "nested"))
                var container = encoder.singleValueContainer()
                try container.encode("text")
            },
        ])
        try box.container?.encode("$null", forKey: AnyKey(stringValue: "later"))
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
