import AppleFoundation
import TestSupport
import Testing
import TypedDefaults
import os

@Suite(.ownThreads) struct SystemLogTests {
    @Test func theLogHasOneLineForEachKindAndShowsOnlyTheKind() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let suite = DefaultsSuite.inMemory(["key": "S3CR3T", "another": "S3CR3T"])
            for _ in 0..<2 {
                _ = suite[DefaultKey("key", default: 0)]
                _ = suite[DefaultKey("another", default: 0)]
            }
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("[TypedDefaults:failures] error: unreadable: <private>\n"))
        #expect(text.components(separatedBy: "unreadable").count == 2)
        for word in ["S3CR3T", "key", "another"] { #expect(!text.contains(word)) }
    }
}
