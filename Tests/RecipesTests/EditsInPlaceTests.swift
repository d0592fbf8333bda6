import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsRecipes

private struct Counts: DefaultConfig {
    static let key = "counts"
    var a = 0
    var b = 0
}

private final class Config: StorableConfig { @Stored var counts = Counts() }

/// An edit in place, such as `config.counts.a += 1`, keeps what another thread changes in another
/// property. Without `_modify`, it would be an assignment of the whole value.
struct EditsInPlaceTests {
    @Test func editsOfAConfigClassByTwoThreadsAreKept() {
        let (suite, rounds) = (DefaultsSuite.inMemory(), 500)
        onThreads(2) { index in
            let config = Config(in: suite, identifier: "app")
            for _ in 0..<rounds { if index == 0 { config.counts.a += 1 } else { config.counts.b += 1 } }
        }
        let counts = Config(in: suite, identifier: "app").counts
        #expect(counts.a == rounds && counts.b == rounds)
    }

    /// `OneRuleTests`, this file and the tests on the stubs edit by each of them.
    @Test func eachSetterOfAValueHasAModify() throws {
        let sources = (0..<3).reduce(URL(filePath: #filePath).resolvingSymlinksInPath()) { url, _ in
            url.deletingLastPathComponent()
        }
        .appending(path: "Sources")
        var setters = 0
        for folder in ["TypedDefaults", "TypedDefaultsRecipes"] {
            let files = try FileManager.default.subpathsOfDirectory(atPath: sources.appending(path: folder).path)
            for file in files where file.hasSuffix(".swift") {
                let text = try String(contentsOf: sources.appending(path: "\(folder)/\(file)"), encoding: .utf8)
                // A setter that changes the handle itself, or a suite, changes no stored value.
                let found = text.matches(of: /nonmutating set \{ (?!currentCore)|nonmutating set \{\n|set \{ config\[/)
                let modifiers = text.matches(of: /(nonmutating )?_modify \{/)
                setters += found.count
                #expect(found.count <= modifiers.count, "\(file)")
            }
        }
        #expect(setters >= 6)
    }
}
