import Foundation
package import Testing

/// Gives each case of a test the path of a settings file in a new folder, which it removes.
package struct OwnFile: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal fileprivate static var path = ""
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let file = try makeFile()
        try await Self.$path.withValue(file.path, operation: function)
        chmod(file.deletingLastPathComponent().path, 0o700)
        try removeFolder(of: file)
    }
}

extension Trait where Self == OwnFile {
    package static var ownFile: OwnFile { OwnFile() }
}

/// The path that ``OwnFile`` gives to the test. A process that a test starts has to capture it.
package var ownFile: String { OwnFile.path }
package var ownFolder: String { URL(filePath: ownFile).deletingLastPathComponent().path }
