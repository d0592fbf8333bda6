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

    package var number: DefaultKey<Int> { DefaultKey("number", default: 0) }
}
