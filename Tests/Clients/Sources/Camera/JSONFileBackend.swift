import Foundation
import TypedDefaults

/// A backend that keeps all settings in one JSON file, for a single process.
public nonisolated final class JSONFileBackend: DefaultsBackend {
    private let file: URL
    private let lock = NSLock()

    public init(file: URL) { self.file = file }

    public func value(forKey key: String) throws(DefaultsError) -> PropertyList? { try contents()[key] }

    public func keys() throws(DefaultsError) -> [String] { try contents().keys }

    public func commit(_ commit: BackendCommit) throws(DefaultsError) -> BackendCommit.Outcome {
        lock.lock()
        defer { lock.unlock() }
        var contents = try contents()
        for edit in commit.edits { contents[edit.key] = edit.value }
        do { try contents.json().write(to: file, options: .atomic) } catch {
            throw DefaultsError(.unavailable, reason: "the file cannot be written")
        }
        return .committed()
    }

    public var traits: BackendTraits { BackendTraits(location: file.path) }

    private func contents() throws(DefaultsError) -> SuiteContents {
        guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
        do { return try SuiteContents(json: Data(contentsOf: file)) } catch {
            throw DefaultsError(.unavailable, reason: "the file cannot be read")
        }
    }
}
