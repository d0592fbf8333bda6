import Foundation
import TypedDefaults

/// Keeps all settings in one JSON file, for a single process.
public nonisolated final class JSONFileBackend: DefaultsBackend {
    private let file: URL

    public init(_ file: URL) { self.file = file }

    public func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        try contents()[name(key)]
    }

    public func keys() throws(DefaultsError) -> [String] {
        try contents().keys.map { name in
            String(decoding: name.utf8.dropLast(), as: UTF8.self)
        }
    }

    public func commit(
        _ edits: BackendEdits, over generation: UInt64?
    ) throws(DefaultsError) -> CommitOutcome {
        var contents = try contents()
        for (key, value) in edits { contents[name(key)] = value }
        do { try contents.json().write(to: file, options: .atomic) } catch {
            throw DefaultsError(
                .unavailable, reason: "\(file.path) cannot be written")
        }
        return .committed()
    }

    public var traits: BackendTraits { BackendTraits(location: file.path) }

    private func contents() throws(DefaultsError) -> SuiteContents {
        guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
        do { return try SuiteContents(json: Data(contentsOf: file)) } catch {
            throw DefaultsError(.unavailable, reason: "\(file.path) cannot be read")
        }
    }

    /// The key in the file. It ends with a colon, because `SuiteContents` drops the
    /// key that records migrations.
    private func name(_ key: String) -> String { key + ":" }
}
