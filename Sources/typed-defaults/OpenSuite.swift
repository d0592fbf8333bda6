import Foundation
import SettingsFile
import SettingsFileInspection
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
                : Self.suite(named: name)
        } catch let error as DefaultsError where error.kind == .invalidName {
            throw .usage("“\(name)”: \(error.reason)")
        } catch let failure as Failure {
            throw failure
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
        throw .missing("there is no suite “\(name)”: no file \(path)\(here.isEmpty ? suggestion : here)")
    }

    /// Whether the suite is stored in a file that exists.
    var isFile: Bool { path.map(File.exists) ?? false }

    /// Whether the suite has a file or, where the system manages it, a key.
    var exists: Bool {
        get throws(Failure) { try path == nil ? !using { try $0.keys() }.isEmpty : isFile }
    }

    /// Whether something was ever stored in the suite.
    var hasRecords: Bool {
        get throws(Failure) {
            guard let path else { return try exists }
            return (try? Self.inspect(path).records) ?? 0 > 0
        }
    }

    /// “; did you mean …?” with the names of other suites, or an empty text.
    var suggestion: String {
        #if canImport(Darwin)
            return ""
        #else
            let names = (try? Self.names()) ?? []
            return name.contains("/") ? "" : didYouMean(name, in: names.filter { $0 != name })
        #endif
    }

    /// Returns a suite by its name. Its errors give no advice for programmers.
    private static func suite(named name: String) throws -> DefaultsSuite {
        #if canImport(Darwin)
            return try DefaultsSuite(name: name)
        #else
            // The suite is released at once: another one of its path would share its errors.
            guard let path = try DefaultsSuite(name: name).location else {
                throw Failure.unavailable(
                    "there is no folder for settings: neither XDG_CONFIG_HOME nor HOME is an absolute path in UTF-8")
            }
            return try DefaultsSuite(file: URL(filePath: path, directoryHint: .notDirectory))
        #endif
    }

    /// Calls `body` after each failure that the suite reports.
    func observeFailures(_ body: @escaping @Sendable () -> Void) {
        suite.onFailure = { [failures] error in
            failures.note(error)
            body()
        }
    }

    /// Returns the result of `body`. An error that it throws or the suite reports ends the tool.
    func using<Result>(_ body: (DefaultsSuite) throws -> Result) throws(Failure) -> Result {
        let result: Result
        do { result = try body(suite) } catch let failure as Failure { throw failure } catch {
            throw .unavailable("\(error)")
        }
        if let failure = failures.all.first { throw .unavailable("\(failure)") }
        return result
    }

    /// Returns the key and the part of its value that a text names, `nil` if there is none, and the
    /// reason why the value may be missing or old, `nil` if there is none.
    func find(_ text: String) throws(Failure) -> (path: ValuePath?, failure: Failure?) {
        guard let path else {
            let found = try ValuePath(text) { key throws(Failure) in
                try using { try UserDefault(DefaultKey<PropertyList?>(key), in: $0).store.load() ?? nil }
            }
            return (found, nil)
        }
        let file = try Self.inspect(path)
        let found = try ValuePath(text) { key throws(Failure) in file.contents[key] }
        return (found, failure(of: file) { $0 == text || text.hasPrefix("\($0).") })
    }

    /// Returns a consistent snapshot of all keys and values, and the reason why some may be missing
    /// or old; `nil` if there is none.
    func contents() throws(Failure) -> (SuiteContents, failure: Failure?) {
        guard let path else { return (try using { try $0.contents() }, nil) }
        let file = try Self.inspect(path)
        return (file.contents, failure(of: file) { _ in true })
    }

    private func failure(of file: FileInspection, ifUnreadable isRelevant: (String) -> Bool) -> Failure? {
        guard let path, !file.isComplete || file.contents.unreadableKeys.contains(where: isRelevant) else { return nil }
        let problems = file.problems.joined(separator: "; ")
        return .unavailable("the file \(path) \(problems); see typed-defaults check \(name)")
    }

    /// Changes the suite as one commit that survives a power failure. Waits for other writers, of
    /// which there may be many.
    func update<Result>(_ body: (inout SuiteContents) throws -> Result) throws(Failure) -> Result {
        let end = ContinuousClock.now + .seconds(30)
        return try using { suite in
            let result = try waiting(until: end) { try suite.update(body) }
            try waiting(until: end) { try suite.synchronize() }
            return result
        }
    }

    private func waiting<Result>(
        until end: ContinuousClock.Instant, _ body: () throws -> Result
    ) throws -> Result {
        while true {
            do { return try body() } catch let error as DefaultsError where error.kind == .timedOut && .now < end {
                usleep(.random(in: 10_000...50_000))
            }
        }
    }
}

// The file in which a suite is stored.
extension OpenSuite {
    /// Reads a file without opening the suite, which would repair the file.
    static func inspect(_ path: String) throws(Failure) -> FileInspection {
        do throws(DefaultsError) {
            if let file = try FileInspection(path) { return file }
        } catch {
            throw .unavailable("\(error)")
        }
        throw .unavailable("the file \(path) does not exist")
    }

    #if !canImport(Darwin)
        /// Returns the names of the suites in the folder for settings, sorted.
        static func names() throws(Failure) -> [String] {
            guard let folder = SettingsFolder.path else {
                throw .unavailable("neither XDG_CONFIG_HOME nor HOME is an absolute path in UTF-8")
            }
            guard File.exists(folder) else { return [] }
            do {
                return try FileManager.default.contentsOfDirectory(atPath: folder)
                    .filter { $0.hasSuffix(".defaults") }.map { String($0.dropLast(9)) }
                    .filter { (try? DefaultsSuite(name: $0)) != nil }.sorted()
            } catch {
                throw .unavailable("the folder \(folder) cannot be read")
            }
        }
    #endif

    /// Returns the damaged copies that the library has set aside, the oldest first.
    static func copies(of path: String) -> [String] {
        // The library sets damage aside beside the target of a link.
        let url = URL(filePath: path).resolvingSymlinksInPath()
        let folder = url.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        func age(_ path: String) -> Date {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date ?? .distantPast
        }
        // The library truncates a long name so that the name of the copy has at most 255 bytes.
        var start = url.lastPathComponent
        while start.utf8.count > 238 { start.removeLast() }
        return names.filter { $0.hasPrefix("\(start).damaged-") }
            .map { folder.appending(path: $0).path }.sorted { (age($0), $0) < (age($1), $1) }
    }
}

/// The failures that a suite has reported. Repaired damage is printed and does not end the tool.
private final class Failures: Sendable {
    private let errors = Locked<[DefaultsError]>([])

    func note(_ error: DefaultsError) {
        if error.kind == .unreadable && error.key == nil { return Output.printDiagnostic("\(error)") }
        errors.withLock { $0.append(error) }
    }

    var all: [DefaultsError] { errors.withLock { $0 } }
}
