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
