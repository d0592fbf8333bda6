import Foundation
import TypedDefaults

/// The suite that a command is about.
struct OpenSuite {
    /// What was asked for.
    let name: String
    let suite: DefaultsSuite
    /// Its file; nil on Apple platforms for suites of a name, which are `UserDefaults`.
    let path: String?
    private let failures = Failures()

    init(_ name: String) throws(Failure) {
        self.name = name
        do {
            suite =
                try name.contains("/")
                ? DefaultsSuite(file: URL(filePath: name, directoryHint: .notDirectory).absoluteURL)
                : DefaultsSuite(name: name)
        } catch let error as DefaultsError where error.kind == .invalidName {
            throw .usage("“\(name)”: \(error.reason)")
        } catch {
            throw .unavailable("\(error)")
        }
        path = suite.location
        suite.onFailure = { [failures] in failures.note($0) }
    }

    /// Throws unless the suite is there: reading would make its folder.
    func checkExistence() throws(Failure) {
        guard let path, !File.exists(path) else { return }
        let here = !name.contains("/") && File.exists(name) ? "; for the file that is here write ./\(name)" : ""
        throw .missing("there is no suite “\(name)”: no file \(path)\(here)")
    }

    /// What `body` returns; what it or the suite reports as an error ends the tool.
    func using<Result>(_ body: (DefaultsSuite) throws -> Result) throws(Failure) -> Result {
        let result: Result
        do { result = try body(suite) } catch { throw .unavailable("\(error)") }
        if let failure = failures.all.first { throw .unavailable("\(failure)") }
        return result
    }

    func value(_ key: String) throws(Failure) -> PropertyList? {
        try using { try PersistentStore(DefaultKey<PropertyList?>(key), suite: $0).load() ?? nil }
    }

    /// All keys and values at one moment, sorted by bytes, which is how keys are told apart.
    func settings() throws(Failure) -> [(key: String, value: PropertyList)] {
        guard let path else {
            let keys = try using { try $0.keys() }
            var settings: [(key: String, value: PropertyList)] = []
            for key in keys { if let value = try value(key) { settings.append((key, value)) } }
            return settings.sortedByKey()
        }
        return try using { _ in
            let backend = FileBackend(path: path)
            backend.attach { [failures] in failures.note($0) }
            return try Self.snapshot(of: backend)
        }
    }

    /// The same of a file.
    static func snapshot(of backend: FileBackend) throws -> [(key: String, value: PropertyList)] {
        _ = try backend.keys()
        for _ in 0..<10 {
            let generation = backend.generation
            let settings = try settings(of: backend)
            // Nil for a file to which nothing was written yet.
            if backend.generation == generation { return settings }
        }
        // Somebody writes all the time, and has to wait for once.
        return try withWriteAccess(backend) { try settings(of: backend) }
    }

    private static func settings(of backend: FileBackend) throws -> [(key: String, value: PropertyList)] {
        var settings: [(key: String, value: PropertyList)] = []
        for key in try backend.keys() {
            if let value = try backend.value(forKey: key) { settings.append((key, value)) }
        }
        return settings.sortedByKey()
    }

    /// Stores all of it, as one change where there is a file.
    func store(_ settings: [(key: String, value: PropertyList)]) throws(Failure) {
        try using { suite in
            if let path {
                let backend = FileBackend(path: path)
                backend.attach { [failures] in failures.note($0) }
                try Self.withWriteAccess(backend) { try backend.commit(settings.map { ($0.key, $0.value) }) }
                try backend.synchronize()
            } else {
                // `UserDefaults` knows no change of several keys.
                for (key, value) in settings {
                    try PersistentStore(DefaultKey<PropertyList?>(key), suite: suite).save(value)
                }
                try suite.synchronize()
            }
        }
    }

    private static func withWriteAccess<Outcome>(_ backend: FileBackend, _ body: () throws -> Outcome) throws -> Outcome
    {
        var outcome: Result<Outcome, any Error>?
        try backend.withWriteAccess { outcome = Result { try body() } }
        guard let outcome else { throw Failure.unavailable("there was no write access, and no reason") }
        return try outcome.get()
    }
}

extension [(key: String, value: PropertyList)] {
    func sortedByKey() -> Self { sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
}

/// What a suite has reported. Damage that was mended is told and no reason to stop; anything else is.
private final class Failures: @unchecked Sendable {
    // Unchecked, but guarded by this.
    private let lock = NSLock()
    private var errors: [DefaultsError] = []

    func note(_ error: DefaultsError) {
        if error.kind == .unreadable && error.key == nil { return Output.tell("\(error)") }
        lock.withLock { errors.append(error) }
    }

    var all: [DefaultsError] { lock.withLock { errors } }
}
