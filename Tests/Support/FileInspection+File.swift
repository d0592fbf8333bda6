package import Foundation
package import SettingsFileInspection
import TypedDefaults

extension FileInspection {
    /// Inspects a settings file, which must exist.
    package init(file: URL) throws {
        guard let inspection = try FileInspection(file.path) else { throw CocoaError(.fileNoSuchFile) }
        self = inspection
    }
}
