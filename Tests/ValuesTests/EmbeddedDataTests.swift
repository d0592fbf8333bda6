import Foundation
import TestSupport
import Testing
import TypedDefaults

/// JSON or a property list inside stored data, as other code wrote it. It is read only if the
/// declared type is not data itself and its own form was not found.
struct EmbeddedDataTests {
    private func read<Value: Codable & Sendable>(_ data: Data, as type: Value.Type = Value.self) throws -> Value? {
        let suite = DefaultsSuite.inMemory(["value": .data(data)])
        return try UserDefault(DefaultKey<Value?>("value", default: nil), in: suite).store.load() ?? nil
    }

    private struct Camera: Codable, Equatable {
        var size = "large"
        var icon = Data([1, 2])
        var date: Date?
    }

    @Test func sixBytesAreReadAsTheTypeThatIsDeclared() throws {
        let data = Data(#""AAAA""#.utf8)
        #expect(data.count == 6)
        #expect(try read(data) == data)
        #expect(try read(data) == "AAAA")
        #expect(try read(data) as Data?? == .some(.some(data)))
    }

    @Test func otherDataIsUnreadable() {
        for data in [Data(), Data([0xFF]), Data("{".utf8), Data("bplist00".utf8), Data(#"{"size": 5}"#.utf8)] {
            let error = #expect(throws: DefaultsError.self) { try read(data, as: Camera.self) }
            #expect(error?.kind == .unreadable)
            #expect(error?.key == "value")
        }
    }

    @Test func dataInsideAValueIsNotDecoded() {
        let stored: PropertyList = ["size": .data(Data(#""large""#.utf8)), "icon": .data(Data())]
        let suite = DefaultsSuite.inMemory(["value": stored])
        let error = #expect(throws: DefaultsError.self) {
            try UserDefault(DefaultKey<Camera?>("value", default: nil), in: suite).store.load()
        }
        #expect(error?.path == ["size"])
    }

    /// A type whose own form is data, or a string in JSON.
    private struct Sealed: Codable, Equatable {
        var bytes: Data
        struct Broken: Error {}
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            bytes = try container.decode(Data.self)
            guard bytes.first == 0 else { throw Broken() }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(bytes)
        }
    }
    private struct Around<Inner: Codable & Sendable>: Codable {
        var inner: Inner
        init(from decoder: any Decoder) throws { inner = try decoder.singleValueContainer().decode(Inner.self) }
        func encode(to encoder: any Encoder) throws { try inner.encode(to: encoder) }
    }

    @Test func dataThatATypeRefusesIsNotReadAsJSON() throws {
        // As JSON these are the three bytes 0, 0, 0, which the type would accept.
        let data = Data(#""AAAA""#.utf8)
        #expect(try JSONDecoder().decode(Sealed.self, from: data).bytes == Data([0, 0, 0]))
        func expectUnreadable<Value: Codable & Sendable>(_ type: Value.Type, _ comment: Comment) {
            let suite = DefaultsSuite.inMemory(["value": .data(data)])
            let key = DefaultKey<Value?>("value", default: nil)
            #expect(throws: DefaultsError.self, comment) { try UserDefault(key, in: suite).store.load() }
        }
        expectUnreadable(Sealed.self, "itself")
        expectUnreadable(Around<Sealed>.self, "in a wrapper")
        expectUnreadable(Around<Sealed?>.self, "in an optional in a wrapper")
        #expect(try read(Data([0, 1]), as: Around<Sealed>.self)?.inner.bytes == Data([0, 1]))
    }
}

extension EmbeddedDataTests {
    /// Arrays in arrays to any depth.
    private struct Nest: Codable, Sendable {
        var children: [Nest]
        init(from decoder: any Decoder) throws { children = try decoder.singleValueContainer().decode([Nest].self) }
        func encode(to encoder: any Encoder) throws { try children.encode(to: encoder) }
    }

    /// Property lists of arrays, each with several references to the next. The last array is empty
    /// or refers to the first.
    private static func binary(levels: Int, cyclic: Bool, references: Int = 1) -> Data {
        func big(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        var data = Data("bplist00".utf8)
        var offsets: [Int] = []
        for level in 0..<levels {
            offsets.append(data.count)
            let isLast = level == levels - 1
            let count = isLast && !cyclic ? 0 : references
            data.append(0xA0 | UInt8(count))
            for _ in 0..<count { data.append(contentsOf: big(isLast ? 0 : level + 1, 2)) }
        }
        let table = data.count
        for offset in offsets { data.append(contentsOf: big(offset, 4)) }
        data.append(contentsOf: [0, 0, 0, 0, 0, 0, 4, 2] + big(levels, 8) + big(0, 8) + big(table, 8))
        return data
    }

    private static func isUnreadable(_ data: Data) -> Bool {
        let suite = DefaultsSuite.inMemory(["value": .data(data)])
        do {
            _ = try UserDefault(DefaultKey<Nest?>("value", default: nil), in: suite).store.load()
            return false
        } catch {
            return (error as? DefaultsError)?.kind == .unreadable
        }
    }

    /// Arrays in JSON.
    private static func json(levels: Int) -> Data {
        Data((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8)
    }

    /// Ten thousand arrays in XML, with a text before each.
    private static func xml(_ text: String) -> Data {
        let (beginnings, ends) = (text + "<array>", "</array>")
        let arrays = String(repeating: beginnings, count: 10_000) + String(repeating: ends, count: 10_000)
        return Data((#"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0">"# + arrays + "</plist>").utf8)
    }

    @Test func fewLevelsAreRead() {
        #expect(!Self.isUnreadable(Self.binary(levels: 20, cyclic: false)))
        #expect(!Self.isUnreadable(Self.json(levels: 20)))
    }

    #if os(macOS) || os(Linux)
        private static let deepData: [String: @Sendable () -> Data] = [
            "JSON of 300 levels": { Self.json(levels: 300) },
            "JSON of 511 levels": { Self.json(levels: 511) },
            "JSON of 10,000 levels": { Self.json(levels: 10_000) },
            "binary": { Self.binary(levels: 10_000, cyclic: false) },
            "an array in itself": { Self.binary(levels: 1, cyclic: true) },
            "a cycle of three arrays": { Self.binary(levels: 3, cyclic: true) },
            "XML": { Self.xml("") },
            // None of these closes anything.
            "XML with a comment": { Self.xml("<!-- </array> -->") },
            "XML with a string": { Self.xml("<string>/>/></string>") },
            "XML with an open instruction": { Self.xml("<?</?>") },
            "XML with an instruction": { Self.xml("<?a/>?>") },
            "XML with a broken tag": { Self.xml("<array/</>") },
        ]

        // Each runs in its own process, because a failure is a stack overflow.
        @Test(arguments: deepData.keys.sorted()) func deepDataIsAnError(what: String) async {
            await #expect(processExitsWith: .success) { [what = what as String] in
                let data = Self.deepData[what]!()
                precondition(withSmallStack { Self.isUnreadable(data) })
            }
        }

        @Test func nestedJSONIsReadOnAStackOf512Kilobytes() async {
            await #expect(processExitsWith: .success) {
                precondition(withSmallStack { !Self.isUnreadable(Self.json(levels: 60)) })
            }
        }
    #endif

    @Test func sharedContainersAreNotWalkedOneByOne() {
        // 2^16 arrays in 180 bytes. If each of them were visited, the data would be readable, as it
        // is with few arrays.
        #expect(Self.isUnreadable(Self.binary(levels: 16, cyclic: false, references: 2)))
        #expect(!Self.isUnreadable(Self.binary(levels: 4, cyclic: false, references: 2)))
    }
}

extension EmbeddedDataTests {
    private struct Defaulted: Codable, Sendable {
        var a = 1
        var number = 2.0
        var decimal = Decimal.nan
        var limit = -Double.infinity
    }

    /// The value in a JSON text, and the paths that could not be read.
    private func read(_ json: String) -> (value: Defaulted, paths: [[String]]) {
        let suite = DefaultsSuite.inMemory(["value": .data(Data(json.utf8))])
        let failures = Failures(of: suite)
        let value = suite[DefaultKey("value", default: Defaulted())]
        return (value, failures.all.map(\.path))
    }

    @Test func aDefaultThatJSONCannotHoldFillsInData() {
        let (value, paths) = read(#"{"a": 4, "number": 1}"#)
        #expect(value.a == 4 && value.number == 1 && value.decimal.isNaN && value.limit == -.infinity)
        #expect(paths == [])
    }

    @Test func aNumberThatNoTypeHoldsIsReadAsTheDefault() {
        let (value, paths) = read(#"{"number": 1e400, "decimal": 3}"#)
        #expect(value.number == 2 && value.decimal == 3)
        #expect(paths == [["number"]])
    }

    @Test func allDigitsOfADecimalAreReadBesideAFault() {
        let digits = "0.12345678901234567890123456789"
        let (value, paths) = read(#"{"a": "x", "number": \#(digits), "decimal": \#(digits)}"#)
        #expect(value.decimal == Decimal(string: digits) && value.number == Double(digits))
        #expect(paths == [["a"]])
    }

    @Test(arguments: ["0.12345678901234567890123456789", "12345678901234567890123", "5"])
    func aStringOfDigitsIsNeverReadAsANumber(digits: String) {
        let (value, paths) = read(#"{"a": "x", "number": "\#(digits)", "decimal": "\#(digits)"}"#)
        #expect(value.a == 1 && value.number == 2 && value.decimal.isNaN)
        #expect(Set(paths) == [["a"], ["number"], ["decimal"]])
    }
}
