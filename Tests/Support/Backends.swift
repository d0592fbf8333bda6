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
        let suite = try makeSuite().quiet
        defer { clear(suite) }
        return try body(suite)
    }

    /// Cleans up after ``makeSuite()``.
    package func clear(_ suite: DefaultsSuite) {
        suite.quiet.clear()
        guard self == .file, let path = suite.location else { return }
        #expect(throws: Never.self) { try removeFolder(of: URL(filePath: path)) }
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
    /// The suite, of which a test expects failures.
    package var quiet: DefaultsSuite {
        onFailure = { _ in }
        return self
    }

    fileprivate func clear() {
        // If a test made the storage unavailable, there is nothing to clear.
        try? removeAll(includingHistory: true)
        try? synchronize()
    }
}

/// Removes the folder of a file. A suite that is still open may flush its file in the background,
/// and create a file that is gone a moment later.
package func removeFolder(of file: URL) throws {
    for attempt in 1...10 {
        do { return try FileManager.default.removeItem(at: file.deletingLastPathComponent()) } catch {
            if attempt == 10 { throw error }
        }
    }
}

/// Returns a settings file in a new folder.
package func makeFile() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "TypedDefaultsTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appending(path: "test.defaults")
}

/// Overwrites a file in place, and never empties it in between: a suite of this process that has it
/// open and reads its header at that moment would get SIGBUS.
package func overwrite(_ file: URL, with bytes: Data) throws {
    let handle = try FileHandle(forUpdating: file)
    try handle.write(contentsOf: bytes)
    try handle.truncate(atOffset: UInt64(bytes.count))
    try handle.close()
}

/// Overwrites a part of a file, as damage does.
package func overwrite(_ file: URL, at offset: Int, with bytes: [UInt8]) throws {
    let handle = try FileHandle(forUpdating: file)
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
}

/// Returns the names in the folder of a file.
package func names(beside file: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).sorted()
}

/// Stores texts one after the other, so that a file becomes due for compaction.
package func fill(_ suite: DefaultsSuite, _ lengths: Range<Int> = 60_000..<60_010) {
    for length in lengths { suite[DefaultKey("filler", default: "")] = String(repeating: "x", count: length) }
}

package func size(of file: URL) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
}

/// A name that no other test and none of the user's programs has. Foundation looks for its folder
/// once, before any test runs, so the file is in the user's own folder; it is removed with its last
/// key.
package func makeSuiteName() -> String { "TypedDefaultsTests-\(UUID().uuidString)" }
