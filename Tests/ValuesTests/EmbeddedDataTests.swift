import Foundation
import TestSupport
import Testing
import TypedDefaults

/// JSON or a property list inside stored data, as other code wrote it. It is read only if the
/// declared type is not data itself and its own form was not found.
@Suite(.ownThreads) struct EmbeddedDataTests {
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

    @Test func structsAreReadFromJSON() throws {
        #expect(try read(JSONEncoder().encode(Camera())) == Camera())
        let date = Date(timeIntervalSinceReferenceDate: 5)
        #expect(try read(JSONEncoder().encode(Camera(date: date))) == Camera(date: date))
        #expect(try read(Data("[1, 2]".utf8)) == [1, 2])
        #expect(try read(Data("true".utf8)) == true)
        #expect(try read(Data("5".utf8)) == 5)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func structsAreReadFromPropertyLists(format: PropertyListSerialization.PropertyListFormat) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let camera = Camera(size: "<&>", date: Date(timeIntervalSinceReferenceDate: 5))
        #expect(try read(encoder.encode(camera)) == camera)
        #expect(try read(encoder.encode(["a": [1, nil]])) == ["a": [1, nil] as [Int?]])
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

    @Test func theCoderItselfDoesNotDecodeData() {
        #expect(throws: DecodingError.self) { try PropertyList.data(Data("5".utf8)).decode(Int.self) }
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
        expectUnreadable(Around<Around<Sealed>>.self, "in two wrappers")
        expectUnreadable(Around<Sealed?>.self, "in an optional in a wrapper")
        #expect(try read(Data([0, 1]), as: Around<Sealed>.self)?.inner.bytes == Data([0, 1]))
    }

    @Test func theFirstSetWritesTheNativeForm() throws {
        let suite = try DefaultsSuite.inMemory(["value": .data(JSONEncoder().encode(Camera()))])
        let store = UserDefault(DefaultKey<Camera?>("value", default: nil), in: suite).store
        try store.updateStored { $0??.size = "small" }
        #expect(
            suite[DefaultKey<PropertyList?>("value")] == [
                "size": "small", "icon": .data(Data([1, 2])), "date": "$null",
            ])
        #expect(try suite.keys() == ["value"])
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

    @Test func fewLevelsAreRead() {
        #expect(!Self.isUnreadable(Self.binary(levels: 20, cyclic: false)))
        #expect(!Self.isUnreadable(Data((String(repeating: "[", count: 20) + String(repeating: "]", count: 20)).utf8)))
    }

    #if os(macOS) || os(Linux)
        // Each runs in its own process, because a failure is a stack overflow.
        @Test func deepJSONIsAnError() async {
            await #expect(processExitsWith: .success) {
                for levels in [300, 511, 10_000] {
                    let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
                    precondition(withSmallStack { Self.isUnreadable(Data(text.utf8)) })
                }
            }
        }

        @Test func deepBinaryPropertyListsAreAnError() async {
            await #expect(processExitsWith: .success) {
                precondition(withSmallStack { Self.isUnreadable(Self.binary(levels: 10_000, cyclic: false)) })
            }
        }

        @Test func cyclicBinaryPropertyListsAreAnError() async {
            await #expect(processExitsWith: .success) {
                precondition(withSmallStack { Self.isUnreadable(Self.binary(levels: 1, cyclic: true)) })
                precondition(withSmallStack { Self.isUnreadable(Self.binary(levels: 3, cyclic: true)) })
            }
        }
    #endif

    @Test func sharedContainersAreNotWalkedOneByOne() {
        // 2^16 arrays in 180 bytes. If each of them were visited, the data would be readable, as it
        // is with few arrays.
        #expect(Self.isUnreadable(Self.binary(levels: 16, cyclic: false, references: 2)))
        #expect(!Self.isUnreadable(Self.binary(levels: 4, cyclic: false, references: 2)))
    }

    #if os(macOS) || os(Linux)
        @Test func deepXMLPropertyListsAreAnError() async {
            await #expect(processExitsWith: .success) {
                let levels = 10_000
                let text =
                    #"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0">"#
                    + String(repeating: "<array>", count: levels) + String(repeating: "</array>", count: levels)
                    + "</plist>"
                precondition(withSmallStack { Self.isUnreadable(Data(text.utf8)) })
                // Closing tags in a comment do not close anything.
                let hidden = text.replacing("<array>", with: "<array><!-- </array> -->")
                precondition(withSmallStack { Self.isUnreadable(Data(hidden.utf8)) })
            }
            // Nor does anything else that only looks like an end.
            for end in ["<string>/>/></string>", "<?</?>", "<?a/>?>", "<array/</>"] {
                await #expect(processExitsWith: .success, "\(end)") { [end = end as String] in
                    let text = "<plist><array>" + String(repeating: end + "<array>", count: 10_000)
                    precondition(withSmallStack { Self.isUnreadable(Data(text.utf8)) })
                }
            }
        }

        @Test func nestedJSONIsReadOnAStackOf512Kilobytes() async {
            await #expect(processExitsWith: .success) {
                let text = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
                precondition(withSmallStack { !Self.isUnreadable(Data(text.utf8)) })
            }
        }

    #endif
}

extension EmbeddedDataTests {
    private struct Defaulted: Codable, Sendable {
        var a = 1
        var number = 2.0
        var decimal = Decimal.nan
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
        #expect(value.a == 4 && value.number == 1 && value.decimal.isNaN)
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

    @Test(arguments: ["TypedDefaults.infinity", "TypedDefaults.-infinity", "TypedDefaults.nan", "inf", "nan"])
    func aTextIsNeverReadAsANumber(text: String) {
        for json in [#"{"a": 1, "number": "\#(text)", "decimal": 1}"#, #"{"number": "\#(text)", "decimal": 1}"#] {
            #expect(read(json).paths == [["number"]])
            #expect(read(json).value.number == 2)
        }
    }
}
