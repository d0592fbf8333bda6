import Testing
package import TypedDefaults

#if canImport(AppleFoundation)
    package import AppleFoundation
#else
    package import Foundation
#endif

/// Every backend of this build. A law that is checked on all of them is also checked on a new one.
package enum Backend: String, CaseIterable, Sendable {
    case memory
    case file
    #if canImport(Darwin) || canImport(AppleFoundation)
        case userDefaults
    #endif

    /// Passes a new suite on this backend to `body`, and empties it afterwards.
    package func withSuite<Result>(_ body: (DefaultsSuite) throws -> Result) throws -> Result {
        let suite = try makeSuite()
        defer { clear(suite) }
        return try body(suite)
    }

    /// Cleans up after ``makeSuite()``.
    package func clear(_ suite: DefaultsSuite) {
        suite.clear()
        if self == .file { removeFolder(of: suite) }
    }

    package func makeSuite() throws -> DefaultsSuite {
        switch self {
        case .memory: .inMemory()
        case .file: try DefaultsSuite(file: makeFile())
        #if canImport(Darwin) || canImport(AppleFoundation)
            case .userDefaults: DefaultsSuite(userDefaultsNamed: makeSuiteName())
        #endif
        }
    }

    /// Returns whether the backend accepts the value. The documentation has a table of the values
    /// that it refuses.
    package func accepts(_ value: PropertyList, key: String = "") -> Bool {
        switch self {
        case .memory, .file: return true
        #if canImport(Darwin) || canImport(AppleFoundation)
            case .userDefaults:
                return key.precomposedStringWithCanonicalMapping.utf8.elementsEqual(key.utf8)
                    && isKeptByFoundation(value)
        #endif
        }
    }
}

#if canImport(Darwin) || canImport(AppleFoundation)
    extension DefaultsSuite {
        /// Creates a suite on Foundation's settings with a name.
        package init(userDefaultsNamed name: String) {
            self.init(backend: UserDefaultsBackend(UserDefaults(suiteName: name)!, suiteName: name))
        }
    }

    /// Foundation uses the same number for every NaN.
    private func isKeptByFoundation(_ value: PropertyList) -> Bool {
        switch value {
        case .double(let double): !double.isNaN || double.bitPattern == Double.nan.bitPattern
        case .array(let elements): elements.allSatisfy(isKeptByFoundation)
        case .dictionary(let entries): entries.values.allSatisfy(isKeptByFoundation)
        default: true
        }
    }
#endif

extension DefaultsSuite {
    fileprivate func clear() {
        onFailure = { _ in }
        removeAll(includingHistory: true)
        // If a test made the storage unavailable, there is nothing to clear.
        try? synchronize()
    }
}

private func removeFolder(of suite: DefaultsSuite) {
    guard let path = suite.location else { return }
    do {
        try FileManager.default.removeItem(at: URL(filePath: path).deletingLastPathComponent())
    } catch {
        Issue.record(error)
    }
}

/// Returns a settings file in a new folder.
package func makeFile() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "TypedDefaultsTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appending(path: "test.defaults")
}

/// Passes the path of a new folder to `body`, where processes of a test store named suites, so that
/// the user's settings are not changed.
package func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = try makeFile().deletingLastPathComponent()
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.path)
}

/// Overwrites a file in place, and never empties it in between: a suite of this process that has it
/// open and reads its header at that moment would get SIGBUS.
package func overwrite(_ file: URL, with bytes: Data) throws {
    let handle = try FileHandle(forUpdating: file)
    try handle.write(contentsOf: bytes)
    try handle.truncate(atOffset: UInt64(bytes.count))
    try handle.close()
}

/// A name that no other test and none of the user's programs has. Foundation looks for its folder
/// once, before any test runs, so the file is in the user's own folder; it is removed with its last
/// key.
package func makeSuiteName() -> String { "TypedDefaultsTests-\(UUID().uuidString)" }
