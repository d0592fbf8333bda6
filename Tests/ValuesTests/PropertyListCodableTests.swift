import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

struct PropertyListCodableTests {
    private struct Holder: Codable, Equatable, Sendable {
        var any: PropertyList
        var maybe: PropertyList?
        var list: [PropertyList] = []
        var byName: [String: PropertyList] = [:]
        var number = 0
    }

    private static let values: [PropertyList] = [
        true, 1, -1, 2.0, .double(-0.0), .double(.nan), .unsigned(.max), "text", "$null", "$$null", "",
        .data(Data([1, 2])), .date(Date(timeIntervalSinceReferenceDate: 1.5)), [], [:], [1, 2.0, "$null", [true]],
        ["$null": "$null", "a": [.data(Data())]],
    ]

    @Test(arguments: values, Backend.allCases)
    func aPartOfAnyKindIsStoredAsItIs(value: PropertyList, backend: Backend) throws {
        guard backend.accepts(value) else { return }
        try backend.withSuite { suite throws in
            let key = DefaultKey("holder", default: Holder(any: 0))
            let holder = Holder(any: value, maybe: value, list: [value], byName: ["a": value], number: 1)
            suite[key] = holder
            #expect(suite[key] == holder)
            let all = DefaultKey("all", default: [String: PropertyList]())
            suite[all] = ["x": value]
            #expect(suite[all] == ["x": value])
            let one = DefaultKey("one", default: value)
            suite[one] = value
            #expect(try suite.contents()["one"] == value, "a key for any value stores it unchanged")
            if value != "$null", value != "$$null" {
                #expect(try suite.contents()["all"] == ["x": value])
            }
        }
    }

    /// A part that is read in another form than its own must not change what is read beside it.
    @Test func aFaultBesideItChangesNothing() throws {
        let key = DefaultKey("holder", default: Holder(any: 0))
        for number in ["5", "x"] as [PropertyList] {
            let suite = DefaultsSuite.inMemory([
                "holder": ["any": 1, "list": [0, 1.0], "byName": [:], "number": number]
            ])
            suite.onFailure = { _ in }
            #expect(suite[key].any == 1)
            #expect(suite[key].list == [0, 1.0])
        }
        let suite = DefaultsSuite.inMemory(["holder": ["list": [], "byName": [:], "number": 1]])
        #expect(suite[key] == Holder(any: 0, number: 1))
    }

    @Test func nilIsNoValue() throws {
        #expect(throws: (any Error).self) { try PropertyList(encoding: Int?.none).decode(PropertyList.self) }
        #expect(try PropertyList(encoding: [PropertyList?.none, 1]).decode([PropertyList?].self) == [nil, 1])
    }

    @Test func deepValuesAreRefused() {
        let deep = (0..<63).reduce(1 as PropertyList) { value, _ in [value] }
        #expect(throws: Never.self) { try PropertyList(encoding: [deep]) }
        #expect(throws: (any Error).self) { try PropertyList(encoding: [[deep]]) }
    }

    /// Foundation's coders, which do not tell all kinds apart.
    @Test func otherCodersKeepWhatTheyCan() throws {
        let value: PropertyList = ["a": [true, 1, 1.5, "text", ["b": .unsigned(.max)]], "c": -7]
        let json = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(PropertyList.self, from: json) == value)
        #expect(try JSONSerialization.jsonObject(with: json) is [String: Any])
        #expect(throws: (any Error).self) { try JSONDecoder().decode(PropertyList.self, from: Data("[null]".utf8)) }
        let data: PropertyList = ["data": .data(Data([1, 2])), "date": .date(Date(timeIntervalSinceReferenceDate: 2))]
        let list = try PropertyListEncoder().encode(data)
        #expect(try PropertyListDecoder().decode(PropertyList.self, from: list) == data)
        let key = DefaultKey("value", default: ["a": 1] as [String: PropertyList], form: .jsonData)
        let suite = DefaultsSuite.inMemory()
        suite[key] = ["b": ["c", 2, false]]
        #expect(suite[key] == ["b": ["c", 2, false]])
    }
}
