import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import TypedDefaults

/// Tests values that this version cannot read, such as those of a newer version.
struct UnknownValueTests: SettingsFileTests {
    private func write(_ bytes: [UInt8], forKey key: String, to file: URL) throws {
        var log = try openLog(of: file).log
        var record = RecordWriter()
        record.append(key, raw: bytes[...])
        _ = try log.append(&record)
    }

    private func bytes(forKey key: String, in file: URL) throws -> [UInt8]? {
        try openLog(of: file).values.value(forKey: key)
    }

    @Test func aWriteKeepsTheBytesOfAnUnknownValue() throws {
        try withFile { file in
            let suite = open(file)
            let failures = Failures(of: suite)
            let store = UserDefault(number, in: suite).store
            let copy = DefaultKey("number.unreadable", default: 0)
            try store.save(1)
            #expect(suite[copy] == 0)
            try write([200, 1, 2, 3], forKey: "number", to: file)
            #expect(fails(with: .unreadable) { _ = try store.load() })
            try store.save(2)
            #expect(try store.load() == 2)
            #expect(try bytes(forKey: "number.unreadable", in: file) == [200, 1, 2, 3])
            #expect(failures.kinds == [.unreadable])
            #expect(failures.all.first?.reason.contains("number.unreadable") == true)
            #expect(fails(with: .unreadable) { _ = try UserDefault(copy, in: suite).store.load() })
            #expect(try suite.contents().unreadableKeys == ["number.unreadable"])
            // The first and the last value are kept.
            for byte in 4...5 as ClosedRange<UInt8> {
                try write([200, byte], forKey: "number", to: file)
                suite[number] = Int(byte)
                #expect(suite[number] == Int(byte))
            }
            #expect(try bytes(forKey: "number.unreadable", in: file) == [200, 1, 2, 3])
            #expect(try bytes(forKey: "number.unreadable-2", in: file) == [200, 5])
            // After the copy of an unknown value, a value of another type is kept too.
            suite[DefaultKey("number", default: "")] = "text"
            try UserDefault(number, in: open(file)).store.save(6)
            #expect(open(file)[DefaultKey("number.unreadable-2", default: "")] == "text")
            #expect(try bytes(forKey: "number.unreadable", in: file) == [200, 1, 2, 3])
        }
    }

    @Test(arguments: [true, false]) func theCopyOfAnUnknownValueIsPartOfTheCommit(updates: Bool) throws {
        try withFile { file in
            let suite = open(file)
            try suite.update { ($0["number"], $0["number.unreadable"]) = (1, "taken") }
            try write([200, 1], forKey: "number", to: file)
            let changes = Guarded<[[String]]>([])
            let failures = Failures(of: suite)
            let token = suite.observeAll { change in changes.withLock { $0.append(change.keys) } }
            let copies = Guarded<[PropertyList?]>([])
            let copyToken = UserDefault(DefaultKey<PropertyList?>("number.unreadable-2"), in: suite).observe { change in
                copies.withLock { $0.append(change.newValue ?? nil) }
            }
            defer { for token in [token, copyToken] { token.cancel() } }
            if updates { try suite.update { $0[number] = 2 } } else { suite[number] = 2 }
            // The thread of the watch may deliver them.
            changes.wait { !$0.isEmpty }
            copies.wait { !$0.isEmpty }
            #expect(changes.withLock { $0 } == [["number", "number.unreadable-2"]])
            #expect(copies.withLock { $0 } == [nil])
            #expect(try bytes(forKey: "number.unreadable-2", in: file) == [200, 1])
            #expect(failures.all.map(\.key) == ["number"])
            #expect(failures.all.first?.reason.hasSuffix("“number.unreadable-2”") == true)
            // A refused write copies nothing.
            try write([200, 2], forKey: "number", to: file)
            let long = String(repeating: "k", count: 5_000)
            #expect(fails(with: .refused) { try suite.update { ($0["number"], $0[long]) = (3, 4) } })
            #expect(try bytes(forKey: "number.unreadable-2", in: file) == [200, 1])
        }
    }

    @Test func contentsWithoutTheKeyRemoveAnUnknownValue() throws {
        try withFile { file in
            let suite = open(file)
            suite[number] = 1
            try write([200], forKey: "number", to: file)
            try suite.replaceContents(with: ["a": 1])
            #expect(try suite.keys() == ["a"])
        }
    }

    @Test func anUnknownValueIsReportedOnceByReadersAndUpdates() throws {
        try withFile { file in
            let suite = open(file)
            suite[number] = 1
            try write([200], forKey: "number", to: file)
            let failures = Failures(of: suite)
            for _ in 0..<2 { try suite.update { #expect($0[number] == 0) } }
            #expect(failures.all.map(\.key) == ["number"])
            #expect(suite[number] == 0)
            try suite.update { _ = $0[number] }
            #expect(failures.all.map(\.key) == ["number"])
        }
    }

    @Test func aRemovalRemovesAnUnknownValue() throws {
        try withFile { file in
            let suite = open(file)
            let failures = Failures(of: suite)
            let store = UserDefault(number, in: suite).store
            try store.save(1)
            try write([200], forKey: "number", to: file)
            store.remove()
            #expect(try store.load() == nil)
            #expect(try suite.keys() == [])
            #expect(failures.kinds == [])
        }
    }

    @Test func theContentsListAnUnknownValue() throws {
        try withFile { file in
            let suite = open(file)
            suite.onFailure = { _ in }
            suite[DefaultKey("a", default: 0)] = 1
            try write([200, 1, 2, 3], forKey: "number", to: file)
            let contents = try suite.contents()
            #expect(contents == ["a": 1])
            #expect(contents.unreadableKeys == ["number"])
            #expect(contents.contains(number))
            #expect(UserDefault(number, in: suite).isSet)
            try suite.update { $0["a"] = 2 }
            try suite.replaceContents(with: contents)
            #expect(suite[DefaultKey("a", default: 0)] == 1)
            #expect(try bytes(forKey: "number", in: file) == [200, 1, 2, 3])
            try suite.update { $0[number] = 5 }
            #expect(suite[number] == 5)
            #expect(try bytes(forKey: "number.unreadable", in: file) == [200, 1, 2, 3])
            try suite.update { $0.removeAll() }
            #expect(try suite.keys() == [])
        }
    }

    @Test func anUnknownValueHidesNoOtherChange() throws {
        try withFile { file in
            let suite = open(file)
            suite.onFailure = { _ in }
            suite[DefaultKey("a", default: 0)] = 1
            try write([200, 1, 2, 3], forKey: "unknown", to: file)
            let keys = Guarded<[String]>([])
            let token = suite.observeAll(prefix: "") { change in keys.withLock { $0 += change.keys } }
            defer { token.cancel() }
            let other = DefaultsSuite(backend: FileBackend(path: file.path))
            other[DefaultKey("a", default: 0)] = 2
            suite[DefaultKey("b", default: 0)] = 1
            // The thread of the watch may be delivering the change of the other suite.
            keys.wait { Set($0) == ["a", "b"] }
            #expect(keys.withLock { Set($0) } == ["a", "b"])
        }
    }
}
