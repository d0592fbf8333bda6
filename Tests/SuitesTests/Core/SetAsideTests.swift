import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

private let number = DefaultKey("number", default: 7)

struct SetAsideTests {
    @Test(arguments: Backend.allCases, [true, false])
    func theFirstAndTheLatestValueAreKept(backend: Backend, updates: Bool) throws {
        try backend.withSuite { suite throws in
            let failures = Failures(of: suite)
            for text in ["first", "second", "third"] {
                try suite.update { $0["number"] = .string(text) }
                if updates { try suite.update { $0[number] = 1 } } else { suite[number] = 1 }
            }
            let expected: SuiteContents = ["number": 1, "number.unreadable": "first", "number.unreadable-2": "third"]
            #expect(try suite.contents() == expected)
            #expect(failures.all.last?.reason.hasSuffix("; the old value is kept under “number.unreadable-2”") == true)
            #expect(try SuiteContents(json: suite.contents().json()) == expected)
        }
    }

    /// The key of the copy has the longest beginning that fits and ends at a character.
    @Test(arguments: [4_085, 4_086, 4_096], [true, false])
    func aValueUnderALongKeyIsSetAside(length: Int, updates: Bool) throws {
        try Backend.file.withSuite { suite throws in
            suite.onFailure = { _ in }
            let scope = suite.scoped("user/")
            let name = "k" + String(repeating: "é", count: (length - 6) / 2) + (length.isMultiple(of: 2) ? "" : "k")
            try #require("user/\(name)".utf8.count == length)
            try scope.update { $0[name] = "text" }
            let key = DefaultKey(name, default: 0)
            if updates {
                try scope.update { $0[key] = 1 }
            } else {
                try UserDefault(key, in: scope).store.save(1)
            }
            let contents = try scope.contents()
            let copy = try #require(contents.keys.first { $0 != name })
            #expect(contents == [name: 1, copy: "text"])
            if length == 4_085 { return #expect(copy == "\(name).unreadable") }
            let beginning = try #require(copy.split(separator: "~").first)
            #expect(name.hasPrefix(beginning))
            #expect(copy.wholeMatch(of: /kéé*~[0-9a-f]{8}\.unreadable/) != nil)
            #expect((4_095...4_096).contains("user/\(copy)".utf8.count))
        }
    }

    @Test(arguments: [Backend.memory, .file]) func aKeyHasALimit(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let (longest, longer) = (String(repeating: "é", count: 2_048), String(repeating: "é", count: 2_048) + "k")
            try suite.update { $0[longest] = 1 }
            let error = #expect(throws: DefaultsError.self) { try suite.update { ($0["a"], $0[longer]) = (1, 1) } }
            #expect(error == DefaultsError(.refused, key: longer, reason: "the key is longer than 4096 bytes"))
            #expect(try suite.keys() == [longest])
        }
    }

    @Test func eachValueThatAnUpdateSetsAsideIsReported() throws {
        let suite = DefaultsSuite.inMemory(["a": "text", "b": "text", "c": 3])
        let failures = Failures(of: suite)
        try suite.update { contents in
            for name in ["a", "b", "c"] { contents[DefaultKey(name, default: 0)] = 1 }
        }
        #expect(failures.all.map(\.key) == ["a", "b"])
        #expect(try suite.keys() == ["a", "a.unreadable", "b", "b.unreadable", "c"])
    }
}
