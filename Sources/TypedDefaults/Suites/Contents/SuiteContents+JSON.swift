#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SuiteContents {
    /// Returns all values as JSON text, with sorted keys and each entry on a line of its own.
    ///
    /// ``init(json:)`` reads the same contents back, bit for bit. See <doc:ExportAndImport> for the
    /// format.
    ///
    /// The values of ``unreadableKeys`` are not part of the text.
    public func json() -> Data {
        var writer = JSONWriter(isPretty: true)
        writer.append(entries: map { $0 })
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
        self.init(base: Base(try reader.contents()))
    }
}
