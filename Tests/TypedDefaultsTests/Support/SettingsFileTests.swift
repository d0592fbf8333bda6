import Foundation

@testable import TypedDefaults

/// Tests of the settings file. Each test has its own file and opens it once for each simulated
/// process.
protocol SettingsFileTests {}

extension SettingsFileTests {
    func withFile(_ body: (URL) throws -> Void) throws {
        let file = try makeFile()
        try body(file)
        try FileManager.default.removeItem(at: file.deletingLastPathComponent())
    }

    func open(_ file: URL, _ durability: DefaultsSuite.Durability = .process) -> DefaultsSuite {
        DefaultsSuite(backend: FileBackend(path: file.path, durability: durability))
    }

    var number: DefaultKey<Int> { DefaultKey("number", default: 0) }
}
