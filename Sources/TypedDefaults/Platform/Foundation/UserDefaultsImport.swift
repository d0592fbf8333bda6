#if !canImport(Darwin) && UserDefaults
    import Foundation
    import SettingsFile

    /// The result of importing settings from Foundation's `UserDefaults`.
    public struct UserDefaultsImport: Sendable {
        /// The property list of Foundation; `nil` if there is none.
        public let file: String?
        /// The imported keys, sorted.
        public let imported: [String]
        /// The keys for which the suite already had a value and kept it, sorted.
        public let kept: [String]
        /// The keys whose values cannot be stored here, with the reasons.
        public let refused: [DefaultsError]
    }

    extension DefaultsSuite {
        /// Imports the values that Foundation's `UserDefaults` stored on Linux, as one change.
        /// Foundation's file stays unchanged.
        ///
        /// ```swift
        /// let report = try DefaultsSuite.standard.importUserDefaults()
        /// print("imported: \(report.imported), kept: \(report.kept), refused: \(report.refused)")
        /// ```
        ///
        /// You can call this repeatedly: it skips keys for which the suite already has a value. It
        /// cannot restore what Foundation itself has lost, such as fractions of seconds. This
        /// method needs the package trait `UserDefaults`, and does not exist on Apple platforms.
        ///
        /// - Parameter suiteName: The argument of `UserDefaults(suiteName:)`; `nil` for
        ///   `UserDefaults.standard`.
        /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unavailable`` if Foundation's
        ///   file cannot be read or this suite cannot be written. In that case nothing is imported.
        public func importUserDefaults(suiteName: String? = nil) throws -> UserDefaultsImport {
            if let suiteName { try Self.check(name: suiteName) }
            guard let folder = SettingsFolder.path else {
                throw DefaultsError(
                    .unavailable, reason: "neither XDG_CONFIG_HOME nor HOME is an absolute path; set one of them")
            }
            // Foundation replaces invalid UTF-8 in a name in the same way.
            let name = suiteName ?? String(decoding: SettingsFolder.executableName, as: UTF8.self)
            let path = "\(folder)/\(name).plist"
            guard let objects = try Self.objects(atPath: path) else {
                return UserDefaultsImport(file: nil, imported: [], kept: [], refused: [])
            }
            var values: [String: PropertyList] = [:]
            var refused: [DefaultsError] = []
            for (key, object) in objects.sorted(by: { $0.key < $1.key }) {
                do throws(DefaultsError) {
                    values[key] = try PropertyList(object)
                } catch {
                    refused.append(error.about(key: key))
                }
            }
            let report = try DefaultsSuite.inMemory(values).copy(.where { _ in true }, to: self)
            return UserDefaultsImport(
                file: path, imported: report.moved, kept: report.kept, refused: refused + report.refused)
        }

        /// Returns the root of Foundation's property list; `nil` if there is no file.
        private static func objects(atPath path: String) throws(DefaultsError) -> [String: Any]? {
            var reason = ""
            // Retry, because the file is truncated while another process rewrites it.
            for _ in 0..<5 {
                if let data = FileManager.default.contents(atPath: path) {
                    // A process that is killed while Foundation writes leaves an empty file behind.
                    if data.isEmpty { return [:] }
                    let root = try? PropertyListSerialization.propertyList(from: data, format: nil)
                    if let objects = root as? [String: Any] { return objects }
                    reason = "is damaged"
                } else {
                    guard FileManager.default.fileExists(atPath: path) else { return nil }
                    reason = "cannot be read"
                }
                usleep(20_000)
            }
            throw DefaultsError(.unavailable, reason: "the file \(path) \(reason)")
        }
    }
#endif
