package import Foundation
package import TypedDefaults

/// Tests of the settings file. Each test has its own file and opens it once for each simulated
/// process.
package protocol SettingsFileTests {}

extension SettingsFileTests {
    package func withFile(_ body: (URL) throws -> Void) throws {
        let file = try makeFile()
        try body(file)
        try removeFolder(of: file)
    }

    package func open(_ file: URL, _ durability: DefaultsSuite.Durability = .process) -> DefaultsSuite {
        DefaultsSuite(backend: FileBackend(path: file.path, durability: durability)).quiet
    }

    package var number: DefaultKey<Int> { DefaultKey("number", default: 0) }
}
