import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

@Suite(.collectsIssues) struct ExpectationsTests {
    struct Camera: DefaultConfig, Equatable {
        static let key = "Camera"
        var size = "medium"
        var zoom = 1.5
    }
    /// A class of mistake that no store can notice: a property that is never encoded.
    struct Forgetful: Codable, Equatable {
        var name = "a"
        var isHidden = false
        enum CodingKeys: String, CodingKey { case name }
    }
    /// Has other names for the values that an earlier version stored.
    struct Renamed: DefaultConfig, Equatable {
        static let key = "Camera"
        var resolution = "none"
        var zoom = 0.0
        enum CodingKeys: String, CodingKey {
            case resolution = "size"
            case zoom
        }
    }

    private func issues(_ body: () -> Void) -> [String] {
        CollectedIssues.of(body).map { "\($0.line) \($0.text)" }
    }

    @Test func aRoundTripIsExpected() throws {
        expectRoundTrip(of: Camera(size: "large"))
        expectRoundTrip(of: [1: "a"])
        expectRoundTrip(of: Optional(3))
        expectRoundTrip(of: Date(timeIntervalSinceReferenceDate: 0.1))
        expectRoundTrip(of: Forgetful())
        let line: Int = #line + 1
        let texts = issues { expectRoundTrip(of: Forgetful(isHidden: true)) }
        #expect(texts.count == 1)
        #expect(texts.first?.hasPrefix("\(line) ") == true)
        #expect(texts.first?.contains("isHidden: true) was stored, and") == true)
    }

    @Test func exactlyTheseChangesAreExpected() async throws {
        let suite = DefaultsSuite.inMemory(["mode": "photo"])
        let quality = DefaultKey("quality", default: 0.8)
        func change(_ suite: DefaultsSuite) throws -> Int {
            suite[quality] = 0.5
            suite[quality] = 0.5
            try suite.update { contents in
                contents["mode"] = nil
                contents["count"] = 3
            }
            return 7
        }
        let result = try expectChanges(of: suite, [["quality": 0.5], ["mode": nil, "count": 3]]) { try change(suite) }
        #expect(result == 7)
        let texts = issues {
            expectChanges(of: suite, [["quality": 0.6], ["quality": 0.8], ["count": nil]]) {
                suite[quality] = 0.6
                suite.remove(["count"])
                suite[quality] = 0.9
            }
        }
        #expect(
            texts.map { $0.split(separator: " ", maxSplits: 1)[1] } as [Substring] == [
                "changes expected: 3, changes made: 3:\n"
                    + "change 2 is missing: quality = 0.8\nchange 3 is not expected: quality = 0.9"
            ])
        let missing = issues { expectChanges(of: suite, [["a": 1, "b": nil]]) {} }
        #expect(missing.count == 1 && missing[0].hasSuffix("change 1 is missing: a = 1, b = nil"))
        let scoped = suite.scoped("user/")
        await expectChanges(of: scoped, [["quality": 0.1]]) {
            await Task.detached { scoped[quality] = 0.1 }.value
        }
        let later = await CollectedIssues.awaiting {
            await expectChanges(of: scoped, [["a": 1]]) { await Task.yield() }
        }
        #expect(later.count == 1)
        struct Stop: Error {}
        func stop() throws { throw Stop() }
        #expect(throws: Stop.self) { try expectChanges(of: suite, [], stop) }
    }

    #if os(macOS) || os(Linux)
        @Test func aMissingFixtureIsWrittenAndFailsOnce() throws {
            let name = "expectations-\(UUID().uuidString).json"
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)")
            defer { try? FileManager.default.removeItem(at: file) }
            let texts = issues { expectStored(Camera(), as: name) }
            #expect(texts.count == 1)
            #expect(texts.first?.contains("there was no fixture") == true)
            expectStored(Camera(), as: name)
            let json = try Data(contentsOf: file)
            #expect(try SuiteContents(json: json) == ["Camera": ["size": "medium", "zoom": 1.5]])
        }
    #endif

    @Test func aStoredFormIsPinned() {
        expectStored(Camera(), as: "camera-1.json")
        let texts = issues { expectStored(Camera(size: "large"), as: "camera-1.json") }
        #expect(texts.count == 1)
        for part in ["- ", "medium", "+ ", "large", "TYPED_DEFAULTS_RECORD=1", "camera-1.json"] {
            #expect(texts.first?.contains(part) == true)
        }
        expectStored([1, 2], as: "numbers-1.json")
        #expect(issues { expectStored([1, 3], as: "numbers-1.json") }.count == 1)
    }

    @Test func whatEarlierVersionsStoredIsRead() {
        expectReads(fixture: "camera-1.json", as: Camera.self, equals: Camera())
        expectReads(fixture: "camera-1.json", as: Renamed.self, equals: Renamed(resolution: "medium", zoom: 1.5))
        expectReads(fixture: "numbers-1.json", as: [Int].self, equals: [1, 2])
        let wrong = issues {
            expectReads(fixture: "camera-1.json", as: Camera.self, equals: Camera(zoom: 2))
            expectReads(fixture: "numbers-1.json", as: Camera.self, equals: Camera())
            expectReads(fixture: "no-such-file.json", as: Camera.self, equals: Camera())
            expectReads(fixture: "numbers-1.json", as: String.self, equals: "1")
        }
        #expect(wrong.count == 4)
        #expect(wrong.first?.contains("zoom: 1.5) instead of") == true)
        #expect(wrong.dropFirst().first?.contains("holds no value under the key of Camera") == true)
        #expect(wrong.dropFirst(2).first?.contains("there is no fixture") == true)
        #expect(wrong.last?.contains("unreadable") == true)
    }
}
