import SettingsFile

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SuiteContents {
    /// Returns all values as JSON text, with sorted keys and each entry on a line of its own.
    ///
    /// ``init(json:)`` reads the same contents back, bit for bit. <doc:MovingSettings#The-format>
    /// describes the format.
    ///
    /// The ``history`` is part of the text, and the values of ``unreadableKeys`` are not.
    public func json() -> Data {
        var writer = JSONWriter(isPretty: true)
        writer.append(entries: stored)
        return Data(writer.bytes)
    }

    /// Creates contents from JSON text: from the result of ``json()``, or from any other JSON
    /// dictionary without null.
    ///
    /// Numbers without a fraction or an exponent are integers; all other numbers are doubles.
    ///
    /// - Throws: A ``DefaultsError`` that names the line and column. Its kind is
    ///   ``DefaultsError/Kind/unreadable`` if the text is not JSON, and
    ///   ``DefaultsError/Kind/refused`` if it holds something that a suite cannot store, such as
    ///   null.
    public init(json: Data) throws {
        var reader = JSONReader(json)
        self.init(stored: try reader.contents().map { ($0.key.string, $0.value) })
        for scope in allHistories.scopes where (try? steps(of: scope)) == nil {
            throw DefaultsError(.unreadable, reason: "the history of migrations is not an array of strings")
        }
    }
}
