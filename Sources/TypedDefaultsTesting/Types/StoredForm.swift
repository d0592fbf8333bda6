import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Stores values of a type, reads them back, and compares the result.
struct StoredForm<Value: Equatable & Sendable> {
    let save: (Value, DefaultsSuite) throws -> Void
    let load: (DefaultsSuite) throws -> Value?

    /// Returns the contents of a suite that holds only this value.
    private func contents(of value: Value) throws -> SuiteContents {
        let suite = DefaultsSuite.inMemory()
        try save(value, suite)
        return try suite.contents()
    }

    private func value(in contents: SuiteContents) throws -> Value? {
        let suite = DefaultsSuite.inMemory()
        suite.onFailure = { _ in }
        try suite.replaceContents(with: contents)
        return try load(suite)
    }

    func checkRoundTrip(of value: Value) throws {
        let read = try self.value(in: SuiteContents(json: contents(of: value).json()))
        guard read != value else { return }
        throw Failure("\(value) was stored, and \(read.map { "\($0)" } ?? "nil") was read")
    }

    func checkStored(_ value: Value, as fixture: Fixture) throws {
        let json = try contents(of: value).json()
        guard let expected = try fixture.read() else {
            try fixture.write(json)
            throw Failure("there was no fixture, so \(fixture.path) was written: check it, and run the test again")
        }
        guard try SuiteContents(json: expected) != SuiteContents(json: json) else { return }
        guard !Fixture.isRecording else { return try fixture.write(json) }
        throw Failure(
            """
            \(Value.self) is no longer stored as in \(fixture.path):
            \(difference(String(decoding: expected, as: UTF8.self), String(decoding: json, as: UTF8.self)))
            If a release has stored the old form, keep this fixture for expectReads and give the new form another \
            name. Otherwise, run the test with \(Fixture.recordingVariable)=1 to write the fixture again.
            """)
    }

    func checkReads(_ fixture: Fixture, equals expected: Value) throws {
        guard let json = try fixture.read() else { throw Failure("there is no fixture \(fixture.path)") }
        let stored: Value?
        do { stored = try value(in: SuiteContents(json: json)) } catch { throw Failure("\(fixture.path): \(error)") }
        guard let read = stored else {
            throw Failure("\(fixture.path) holds no value under the key of \(Value.self)")
        }
        guard read != expected else { return }
        throw Failure("\(fixture.path) reads as \(read) instead of \(expected)")
    }

    /// Returns the lines that differ, in the manner of `diff`.
    private func difference(_ old: String, _ new: String) -> String {
        let (old, new) = (old.split(separator: "\n"), new.split(separator: "\n"))
        let changes = new.difference(from: old)
        let removed = changes.removals.map { change -> String in
            guard case .remove(_, let line, _) = change else { return "" }
            return "- \(line)"
        }
        let added = changes.insertions.map { change -> String in
            guard case .insert(_, let line, _) = change else { return "" }
            return "+ \(line)"
        }
        return (removed + added).joined(separator: "\n")
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}

extension StoredForm where Value: DefaultConvertible {
    /// Under the key of the type.
    static var ofKeyedType: StoredForm {
        StoredForm(
            save: { try PersistentStore<Value>(in: $1).save($0) },
            load: { try PersistentStore<Value>(in: $0).load() })
    }
}

extension StoredForm where Value: Codable {
    /// Under the key “value”.
    static var ofCodable: StoredForm {
        let key = DefaultKey<Value?>("value")
        return StoredForm(save: { try UserDefault(key, in: $1).store.save($0) }, load: { try $0.read(key) })
    }
}

/// A file in the folder `Fixtures` beside the file of a test.
struct Fixture {
    static let recordingVariable = "TYPED_DEFAULTS_RECORD"
    static var isRecording: Bool { ProcessInfo.processInfo.environment[recordingVariable] == "1" }
    /// Returns whether records of releases are written: on request, and never in continuous
    /// integration.
    static func isRecording(onRequest isRequested: Bool) -> Bool {
        (isRequested || isRecording) && ProcessInfo.processInfo.environment["CI", default: ""].isEmpty
    }

    let path: String
    /// The name without the extension.
    var name: String { URL(filePath: path).deletingPathExtension().lastPathComponent }

    init(path: String) { self.path = path }

    /// Returns the fixtures in a folder, by their names.
    static func all(in folder: String) throws -> [Fixture] {
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }.sorted()
            .map { Fixture(path: "\(folder)/\($0)") }
    }

    init(_ name: String, besides filePath: StaticString) {
        path = URL(filePath: "\(filePath)").deletingLastPathComponent().appending(path: "Fixtures/\(name)").path
    }

    /// Returns the bytes of the file; `nil` if there is none.
    func read() throws -> Data? {
        FileManager.default.fileExists(atPath: path) ? try Data(contentsOf: URL(filePath: path)) : nil
    }

    /// Returns the value that the file holds as JSON.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do { return try PropertyList(json: Data(contentsOf: URL(filePath: path))).decode(type) } catch {
            let cure =
                "If it records the next release (perhaps a merge damaged it), record it again. "
                + "Otherwise restore it from version control."
            throw DefaultsError(.unreadable, reason: "\(path) cannot be read: \(error). \(cure)")
        }
    }

    func write(_ text: String) throws { try write(Data(text.utf8)) }

    func write(_ json: Data) throws {
        let file = URL(filePath: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try json.write(to: file, options: .atomic)
    }
}
