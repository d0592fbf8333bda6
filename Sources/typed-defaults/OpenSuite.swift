import Foundation
import TypedDefaults

/// The suite that a command uses.
struct OpenSuite {
    /// The name or path from the command line.
    let name: String
    let suite: DefaultsSuite
    /// The path of its file; `nil` on Apple platforms for named suites, which are `UserDefaults`.
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

    /// Throws unless the suite exists, because reading it would create its folder.
    func checkExistence() throws(Failure) {
        guard let path, !File.exists(path) else { return }
        let here = !name.contains("/") && File.exists(name) ? "; to use the file in this folder, write ./\(name)" : ""
        throw .missing("there is no suite “\(name)”: no file \(path)\(here)")
    }

    /// Returns the result of `body`. An error that it throws or the suite reports ends the tool.
    func using<Result>(_ body: (DefaultsSuite) throws -> Result) throws(Failure) -> Result {
        let result: Result
        do { result = try body(suite) } catch { throw .unavailable("\(error)") }
        if let failure = failures.all.first { throw .unavailable("\(failure)") }
        return result
    }

    func value(_ key: String) throws(Failure) -> PropertyList? {
        try using { try UserDefault(DefaultKey<PropertyList?>(key), in: $0).store.load() ?? nil }
    }

    /// Returns all keys and values, read at the same moment.
    func contents() throws(Failure) -> SuiteContents { try using { try $0.contents() } }

    /// Stores all settings as one commit.
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

/// The failures that a suite has reported. Repaired damage is printed and does not end the tool.
private final class Failures: @unchecked Sendable {
    // Safe: the lock protects the errors.
    private let lock = NSLock()
    private var errors: [DefaultsError] = []

    func note(_ error: DefaultsError) {
        if error.kind == .unreadable && error.key == nil { return Output.printDiagnostic("\(error)") }
        lock.withLock { errors.append(error) }
    }

    var all: [DefaultsError] { lock.withLock { errors } }
}
