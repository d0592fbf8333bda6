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
        try using { try UserDefault(DefaultKey<PropertyList?>(key), in: $0).store.load() ?? nil }
    }

    /// All keys and values as of one moment.
    func contents() throws(Failure) -> SuiteContents { try using { try $0.contents() } }

    /// Stores all of it as one change.
    func store(_ settings: some Sequence<(key: String, value: PropertyList)>) throws(Failure) {
        try using { suite in
            try suite.update { contents in
                for (key, value) in settings { contents[key] = value }
            }
            try suite.synchronize()
        }
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
