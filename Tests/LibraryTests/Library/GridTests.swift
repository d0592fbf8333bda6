import Foundation
import TestSupport
import Testing
import TypedDefaults

/// Every kind of value in every shape on every backend, read back by a new process if the backend
/// is persistent.
///
/// Some cells do not compile: a hand-written type, and a type with a raw value that is not
/// `Codable`, inside an array, dictionary or set. A container cannot be `Codable` on condition of
/// another protocol, so its elements must be `Codable`.
@Suite(.ownThreads) struct GridTests {
    @Test(arguments: Grid.cells)
    func aValueReadsBackFromMemory(cell: Cell) throws {
        let suite = DefaultsSuite.inMemory()
        try cell.write(suite)
        #expect(cell.reads(suite))
        #expect(try cell.faults(suite) == [])
        // Read in another suite with the same contents, to bypass the cache.
        let contents = try Dictionary(
            uniqueKeysWithValues: suite.keys().map { ($0, try #require(suite[DefaultKey<PropertyList?>($0)])) })
        #expect(cell.reads(.inMemory(contents)))
    }

    @Test func aCellThatWasNotWrittenIsMissing() {
        for cell in Grid.cells { #expect(!cell.reads(.inMemory()), "\(cell)") }
    }

    #if os(macOS) || os(Linux)
        @Test func everyValueReadsBackFromAFileInAFreshProcess() async throws {
            let file = try makeFile()
            let suite = try DefaultsSuite(file: file)
            for cell in Grid.cells { try cell.write(suite) }
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                let suite = try DefaultsSuite(file: URL(filePath: path))
                for cell in Grid.cells { #expect(cell.reads(suite), "\(cell)") }
            }
            try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        }
    #endif

    #if canImport(Darwin) || canImport(AppleFoundation)
        #if os(macOS) || os(Linux)
            @Test func everyValueReadsBackFromUserDefaultsInAFreshProcess() async throws {
                let name = makeSuiteName()
                let suite = DefaultsSuite(userDefaultsNamed: name)
                for cell in Grid.cells { try cell.write(suite) }
                try suite.synchronize()
                await #expect(processExitsWith: .success) { [name = name as String] in
                    let suite = DefaultsSuite(userDefaultsNamed: name)
                    for cell in Grid.cells { #expect(cell.reads(suite), "\(cell)") }
                }
                try suite.removeAll()
                try suite.synchronize()
            }
        #endif
    #endif
}

/// One kind of value in one shape.
struct Cell: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let write: @Sendable (DefaultsSuite) throws -> Void
    let reads: @Sendable (DefaultsSuite) -> Bool
    let faults: @Sendable (DefaultsSuite) throws -> [DefaultsError]

    init<Value: Sendable>(
        _ kind: String, _ shape: String, _ key: DefaultKey<Value>, isEqual: @escaping @Sendable (Value, Value) -> Bool
    ) {
        let store: @Sendable (DefaultsSuite) -> AnyStore<Value> = { UserDefault(key, in: $0).store }
        testDescription = "\(kind), \(shape)"
        write = { try store($0).save(key.defaultValue) }
        faults = { suite in try suite.faults(key) }
        reads = { suite in store(suite).get().map { isEqual($0, key.defaultValue) } ?? false }
    }
}

enum Grid {
    enum Size: String, Codable, Hashable { case large, medium }
    enum RawOnly: Int { case off, on }
    struct Point: Codable, Hashable {
        var x = 1.5
        var label: String? = "é"
    }
    struct HandWritten: DefaultConvertible, Equatable {
        static let key = "hand-written"
        let number: Int
        init(number: Int) { self.number = number }
        init?(_ object: Any) {
            guard let number = (object as? [String: Any])?["number"] as? Int else { return nil }
            self.number = number
        }
        func serialize() -> Any { ["number": number] }
    }

    static let cells: [Cell] =
        shapes("Bool", true, false)
        + shapes("Int", Int.min, Int.max)
        + shapes("UInt64", UInt64.max, 1 << 63)
        + shapes("Double", 0.1, -.greatestFiniteMagnitude)
        + shapes("Double -0.0", -0.0, 1)
        + shapes("Float", Float(0.1), .infinity)
        + shapes("String", "$null", "e\u{301}\u{0} 🎛")
        + shapes("String, empty", "", "a")
        + shapes("Data", Data(), Data([0, 255]))
        + shapes("Date", Date(timeIntervalSinceReferenceDate: 700_000_000), .distantPast)
        + shapes("Date with a fraction", Date(timeIntervalSinceReferenceDate: 0.1), .distantPast)
        + shapes("URL", URL(string: "https://example.com/a%20b?c#d")!, URL(filePath: "/tmp/é"))
        + shapes(
            "UUID", UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!,
            UUID(uuidString: "00000000-0000-0000-0000-000000000000")!)
        + shapes("raw-value enum", Size.large, .medium)
        + shapes("Codable struct", Point(), Point(x: 2, label: nil))
        + [
            Cell("raw value only", "value", DefaultKey("a", default: RawOnly.on), isEqual: ==),
            Cell("raw value only", "optional", DefaultKey<RawOnly?>("b", default: .on), isEqual: ==),
            Cell("hand-written", "value", DefaultKey("c", default: HandWritten(number: 7)), isEqual: ==),
            Cell(
                "hand-written", "optional", DefaultKey<HandWritten?>("d", default: HandWritten(number: 7)), isEqual: ==),
        ]

    /// The ten shapes, and arrays that contain `nil`. Shapes with room for two values contain
    /// both.
    private static func shapes<Value: Codable & Hashable & Sendable>(
        _ kind: String, _ first: Value, _ second: Value
    ) -> [Cell] {
        func cell<Shape: Codable & Hashable & Sendable>(_ shape: String, _ value: Shape, inOrder: Bool = true) -> Cell {
            Cell(kind, shape, DefaultKey("\(kind), \(shape)", default: value)) { lhs, rhs in
                // Compare the written forms, because -0.0 equals 0.0, and é equals é. A set can
                // have any order.
                lhs == rhs && (!inOrder || (try? PropertyList(encoding: lhs)) == (try? PropertyList(encoding: rhs)))
            }
        }
        return [
            cell("value", first),
            cell("optional", Optional(first)),
            cell("array", [first, second]),
            cell("empty array", [Value]()),
            cell("optional array", Optional([first, second])),
            cell("array of optionals", [first, nil, second]),
            cell("nested array", [[first], [], [first, second]]),
            cell("dictionary", ["a": first, "b.c": second]),
            cell("dictionary of arrays", ["a": [first, second], "": []]),
            cell("array of dictionaries", [["a": first], [:], ["b": second]]),
            cell("set", Set([first, second]), inOrder: false),
        ]
    }
}
