import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

private let number = DefaultKey("number", default: 7)

struct SetAsideTests {
    @Test(arguments: Backend.allCases, [true, false])
    func aValueThatIsSetAsideIsListedWithItsDateAndReason(backend: Backend, updates: Bool) throws {
        try backend.withSuite { suite throws in
            suite.onFailure = { _ in }
            for text in ["first", "second", "third"] {
                try suite.update { $0["number"] = .string(text) }
                if updates { try suite.update { $0[number] = 1 } } else { suite[number] = 1 }
            }
            let copies = try suite.setAside
            #expect(copies.map(\.key) == ["number", "number"])
            #expect(copies.map(\.copyKey) == ["number.unreadable", "number.unreadable-2"])
            #expect(copies.map(\.value) == ["first", "third"])
            for copy in copies {
                let date = try #require(copy.date)
                #expect(abs(date.timeIntervalSinceNow) < 60)
                #expect(copy.reason?.hasPrefix("unreadable (Int): ") == true)
                #expect(copy.reason?.contains("number") == false)
                #expect("\(copy)" == "SetAsideValue(“\(copy.copyKey)”)")
            }
            #expect(try suite.keys() == ["number", "number.unreadable", "number.unreadable-2"])
            let export = try SuiteContents(json: suite.contents().json())
            #expect(export["number.unreadable"] == "first")
            #expect(export.keys.contains("number.unreadable-info"))
            let other = DefaultsSuite.inMemory()
            try suite.copy(.all, to: other)
            #expect(try other.setAside.map(\.date) == copies.map(\.date))
        }
    }

    @Test func aCopyByAnOlderVersionHasNoDate() throws {
        let suite = DefaultsSuite.inMemory(["number.unreadable": "old", "x.unreadable-2": 1, "x.unreadable-2-info": 3])
        let copies = try suite.setAside
        #expect(copies.map(\.key) == ["number", "x"])
        #expect(copies.map(\.value) == ["old", 1])
        #expect(copies.allSatisfy { $0.date == nil && $0.reason == nil })
    }

    @Test(arguments: Backend.allCases) func aValueIsRestoredAsOneCommit(backend: Backend) throws {
        try backend.withSuite { suite throws in
            suite.onFailure = { _ in }
            let text = DefaultKey("number", default: "")
            suite[text] = "precious"
            suite[number] = 1
            let changes = Guarded<[[String]]>([])
            let token = suite.observeAll { change in changes.withLock { $0.append(change.keys) } }
            defer { token.cancel() }
            try suite.restore(#require(try suite.setAside.first))
            #expect(suite[text] == "precious")
            #expect(changes.withLock { $0 } == [["number", "number.unreadable", "number.unreadable-info"]])
            // The value that was there has taken the place of the copy.
            let replaced = try #require(try suite.setAside.first)
            #expect(replaced.value == 1)
            #expect(replaced.reason == "unreadable: it was replaced by a value that had been set aside")
            try suite.restore(replaced)
            #expect(suite[number] == 1)
            suite.remove(["number"])
            try suite.restore(#require(try suite.setAside.first))
            #expect(try suite.contents() == ["number": "precious"])
        }
    }

    @Test func anEqualValueNeedsNoCopy() throws {
        let suite = DefaultsSuite.inMemory(["number": 1, "number.unreadable": 1])
        try suite.restore(#require(try suite.setAside.first))
        #expect(try suite.contents() == ["number": 1])
    }

    @Test(arguments: Backend.allCases) func aCopyIsDiscarded(backend: Backend) throws {
        try backend.withSuite { suite throws in
            let scope = suite.scoped("user/")
            suite.onFailure = { _ in }
            try scope.update { $0["number"] = "text" }
            scope[number] = 1
            #expect(try scope.setAside.map(\.copyKey) == ["number.unreadable"])
            #expect(try suite.setAside.map(\.key) == ["user/number"])
            try scope.discard(#require(try scope.setAside.first))
            #expect(try suite.contents() == ["user/number": 1])
        }
    }

    @Test func aCopyThatHasChangedIsLeftAlone() throws {
        let suite = DefaultsSuite.inMemory(["number": 1, "number.unreadable": "a"])
        let copy = try #require(try suite.setAside.first)
        let changed: SuiteContents = ["number": 1, "number.unreadable": "b"]
        try suite.replaceContents(with: changed)
        #expect(fails(with: .refused) { try suite.restore(copy) })
        #expect(fails(with: .refused) { try suite.discard(copy) })
        #expect(try suite.contents() == changed)
        suite.removeAll()
        #expect(fails(with: .refused) { try suite.restore(copy) })
        #expect(try suite.contents().isEmpty)
    }

    /// A value that the suite itself cannot read, such as one of a newer version.
    @Test func aCopyThatCannotBeReadCanOnlyBeDiscarded() throws {
        let place = KeyByKeyBackend(["a": 1], unreadableKeys: ["number.unreadable"])
        let suite = DefaultsSuite(backend: place)
        let copy = try #require(try suite.setAside.first)
        #expect(copy.key == "number")
        #expect(copy.value == nil)
        #expect(fails(with: .unreadable) { try suite.restore(copy) })
        try suite.discard(copy)
        #expect(place.keys() == ["number.unreadable", "a"] || place.keys() == ["a", "number.unreadable"])
    }

    @Test func aValueOverOneThatCannotBeReadIsNotRestored() throws {
        let place = KeyByKeyBackend(["number.unreadable": 1], unreadableKeys: ["number"])
        let suite = DefaultsSuite(backend: place)
        #expect(fails(with: .unreadable) { try suite.restore(#require(try suite.setAside.first)) })
        #expect(place.contents == ["number.unreadable": 1])
    }

    @Test func aKeyThatIsTooLongForADateIsStillSetAside() throws {
        try Backend.file.withSuite { suite throws in
            suite.onFailure = { _ in }
            let name = String(repeating: "k", count: 4_085)
            try suite.update { $0[name] = "text" }
            try UserDefault(DefaultKey(name, default: 0), in: suite).store.save(1)
            let copies = try suite.setAside
            #expect(copies.map(\.value) == ["text"])
            #expect(copies.map(\.date) == [nil])
        }
    }
}
