import Foundation
import TestSupport
import Testing
import TypedDefaults

/// The code of the article *Coming from Apple's API, Defaults or swift-sharing*, for Defaults.
struct ComingFromDefaultsTests {
    nonisolated func readJSONText(of keys: [String], in contents: inout SuiteContents) {
        func json(_ stored: PropertyList) -> String {
            switch stored {
            case .string(let text): text
            case .array(let elements): "[\(elements.map(json).joined(separator: ","))]"
            case .dictionary(let entries):
                "{\(entries.map(member).joined(separator: ","))}"
            default: "?"  // no JSON
            }
        }
        func member(_ name: String, _ value: PropertyList) -> String {
            "\(String(decoding: PropertyList.string(name).json(), as: UTF8.self)):\(json(value))"
        }
        for key in keys {
            guard let data = contents[key].map({ Data(json($0).utf8) }),
                (try? JSONSerialization.jsonObject(
                    with: data, options: .fragmentsAllowed)) != nil
            else { continue }  // already in the form of this library
            contents[key] = .data(data)
        }
    }

    @Test func thePageShowsTheCodeOfThisFile() throws {
        #expect(try article("ComingFromOtherLibraries", shows: "func readJSONText"))
    }

    private struct User: Codable, Hashable {
        var name = "", lastSeen = Date(timeIntervalSinceReferenceDate: 0.5), token = Data(), score = -0.0, mail: String?
    }
    private enum Mode: String, Codable { case light, dark }

    /// Reads what `Defaults` stores for a value, and again after it was written and the step was
    /// repeated.
    private func check<Value: Codable & Sendable & Equatable>(
        _ stored: PropertyList, is value: Value, insteadOf other: Value
    ) throws {
        let suite = DefaultsSuite.inMemory(["value": stored])
        let failures = Failures(of: suite)
        let setting = UserDefault("value", default: other, in: suite)
        try suite.update { contents in readJSONText(of: ["value", "missing"], in: &contents) }
        #expect(setting.value == value)
        setting.value = other
        setting.value = value
        let written = try suite.contents()
        try suite.update { contents in readJSONText(of: ["value"], in: &contents) }
        #expect(try suite.contents() == written)
        #expect(failures.all == [])
    }

    private func text(_ value: some Encodable) throws -> PropertyList {
        .string(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
    }

    @Test func valuesAreRead() throws {
        let user = User(name: "Ann", token: Data([1, 2, 3]))
        try check(text(user), is: user, insteadOf: User())
        try check(text(Mode.dark), is: Mode.dark, insteadOf: .light)
        let url = try #require(URL(string: "https://example.com/a"))
        try check(text(url), is: url, insteadOf: URL(filePath: "/"))
    }

    @Test func elementsAreRead() throws {
        let (ann, ben) = (User(name: "Ann", token: Data([1, 2, 3])), User(name: #""Ben""#, score: 1e300, mail: "a"))
        let texts = try [text(ann), text(ben)]
        try check(.array(texts), is: [ann, ben], insteadOf: [])
        try check(.array(texts), is: Set([ann, ben]), insteadOf: [])
        try check(.array([.array(texts), []]), is: [[ann, ben], []], insteadOf: [])
        try check(.dictionary(["a\"\n": texts[0], "": texts[1]]), is: ["a\"\n": ann, "": ben], insteadOf: [:])
        try check(.array([text(Mode.dark)]), is: [Mode.dark], insteadOf: [])
        let url = try #require(URL(string: "https://example.com/a"))
        try check(.dictionary(["a": text(url)]), is: ["a": url], insteadOf: [:])
    }
}

/// The code of the article *Coming from Apple's API, Defaults or swift-sharing*, for swift-sharing.
struct ComingFromSwiftSharingTests {
    struct Config: DefaultConfig {
        static let key = "Config"
        var zoom = 1.0
        var lastOpened = Date.distantPast
        var token = Data()
    }

    func importFile(at url: URL, into suite: DefaultsSuite) throws {
        let json: Data
        do { json = try Data(contentsOf: url) } catch CocoaError.fileReadNoSuchFile {
            return
        }
        _ = try JSONSerialization.jsonObject(with: json)  // throws if it is damaged
        try suite.update { contents in
            if contents[Config.key] == nil { contents[Config.key] = .data(json) }
        }
    }

    @Test func thePageShowsTheCodeOfThisFile() throws {
        #expect(try article("ComingFromOtherLibraries", shows: "func importFile"))
    }

    @Test func aFileIsImportedOnce() throws {
        let file = try makeFile()
        let suite = DefaultsSuite.inMemory()
        let failures = Failures(of: suite)
        let store = PersistentStore<Config>(in: suite)
        try importFile(at: file, into: suite)
        #expect(try suite.keys() == [])
        try Data(#"{"zoom": 2"#.utf8).write(to: file)
        #expect(throws: (any Error).self) { try importFile(at: file, into: suite) }
        #expect(try suite.keys() == [])

        var config = Config(lastOpened: Date(timeIntervalSinceReferenceDate: 7.5), token: Data([1, 2, 3]))
        config.zoom = 2
        try JSONEncoder().encode(config).write(to: file)
        try importFile(at: file, into: suite)
        #expect(store.value == config)
        store.value.zoom = 3
        try importFile(at: file, into: suite)
        config.zoom = 3
        #expect(store.value == config)
        store.remove()
        try Data(#"{"zoom": 2}"#.utf8).write(to: file)
        try importFile(at: file, into: suite)
        #expect(store.value == Config(zoom: 2))
        #expect(failures.all == [])
    }

    @Test func eachDeclarationHasItsOwnDefault() {
        let suite = DefaultsSuite.inMemory()
        let first = UserDefault<String?>("name", default: "Ann", in: suite)
        let second = UserDefault<String?>("name", default: "Ben", in: suite)
        #expect(first.value == "Ann" && second.value == "Ben")
        first.value = "Cid"
        #expect(second.value == "Cid")
        first.value = nil
        #expect(first.value == "Ann" && second.value == "Ben")
    }
}

extension ComingFromSwiftSharingTests.Config: Equatable {}
