import SettingsFile

#if !canImport(Darwin) && UserDefaults
    import Foundation

    /// What became of the settings that Foundation's `UserDefaults` had stored.
    public struct UserDefaultsImport: Sendable {
        /// The property list of Foundation's; nil if there is none.
        public let file: String?
        /// The keys that were taken over, sorted.
        public let imported: [String]
        /// The keys that the suite had a value for already, which it keeps, sorted.
        public let kept: [String]
        /// The keys whose values cannot be stored here, and why.
        public let refused: [DefaultsError]
    }

    extension DefaultsSuite {
        /// Takes over what Foundation's `UserDefaults` stored on Linux, as one change. Its own file stays as it is.
        ///
        /// ```swift
        /// let report = try DefaultsSuite.standard.importUserDefaults()
        /// print("taken over: \(report.imported), already there: \(report.kept), impossible: \(report.refused)")
        /// ```
        ///
        /// Run it as often as you like: keys that the suite has a value for are passed over. What Foundation itself has lost on the way,
        /// such as fractions of seconds, is lost. Needs the package trait `UserDefaults`; there is no such method on Apple platforms.
        ///
        /// - Parameter suiteName: What `UserDefaults(suiteName:)` was made with; nil for `UserDefaults.standard`.
        /// - Throws: A ``DefaultsError`` of kind ``DefaultsError/Kind/unavailable`` if Foundation's file cannot be read, or this suite
        ///   cannot be written; then nothing is taken over.
        public func importUserDefaults(suiteName: String? = nil) throws -> UserDefaultsImport {
            if let suiteName { try Self.check(name: suiteName) }
            let domain = suiteName ?? FoundationDomain.standard
            if let obstacle = domain.flatMap({ FoundationDomain.obstacle(domain: $0) }) { throw obstacle }
            guard let path = domain.flatMap(FoundationDomain.path),
                let data = FileManager.default.contents(atPath: path)
            else { return UserDefaultsImport(file: nil, imported: [], kept: [], refused: []) }
            var values: [(key: String, value: PropertyList?)] = []
            var refused: [DefaultsError] = []
            // Empty is what a kill while Foundation was writing leaves behind.
            let root = data.isEmpty ? [:] : try? PropertyListSerialization.propertyList(from: data, format: nil)
            guard let objects = root as? [String: Any] else {
                throw DefaultsError(.unavailable, reason: "the file \(path) is damaged")
            }
            for (key, object) in objects.sorted(by: { $0.key < $1.key }) {
                do throws(DefaultsError) {
                    values.append((key, try PropertyList(object)))
                } catch {
                    refused.append(error.about(key: key))
                }
            }
            var kept: Set<ByteString> = []
            try core.withWriteAccess { () throws(DefaultsError) in
                kept = Set(try core.backend.keys().map(ByteString.init))
                let edits = values.filter { !kept.contains(ByteString($0.key)) }
                if !edits.isEmpty { try core.commit(edits) }
            }
            let keys = values.map(\.key)
            return UserDefaultsImport(
                file: path, imported: keys.filter { !kept.contains(ByteString($0)) },
                kept: keys.filter { kept.contains(ByteString($0)) }, refused: refused)
        }
    }
#endif
