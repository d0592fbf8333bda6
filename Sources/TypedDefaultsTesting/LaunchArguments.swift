public import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension [String] {
    /// Returns launch arguments for settings, for a UI test or any other child process.
    ///
    /// ```swift
    /// let app = XCUIApplication()
    /// app.launchArguments += .defaults {
    ///     $0[.volume] = 7
    ///     $0[CameraConfig.self].size = .large
    /// }
    /// app.launch()
    /// ```
    ///
    /// The app reads them in each suite with the layer `DefaultsSuite.Layer.arguments`, every
    /// value exactly as a suite stores it. On Apple platforms, `DefaultsSuite.standard` has this
    /// layer, and `UserDefaults` reads the same values, but dates only to the second, and none
    /// before the year 1 or after 9999.
    ///
    /// The arguments of an app only add values: a key that `body` removes, or sets to `nil`, has no
    /// argument, and the app reads what it has stored. Linux limits each argument to 128 KB.
    ///
    /// - Parameter body: Sets the values. The contents are empty at first. A setting in a scope has
    ///   the key with the prefix, as in `$0["user-42/volume"] = 7`.
    /// - Returns: Two arguments for each key: its name after `-`, and its value as an XML property
    ///   list, some with a comment that makes them exact.
    /// - Throws: What `body` throws. A value that cannot be stored, an empty key and a key with a
    ///   zero byte are recorded as failures of the test.
    public static func defaults(_ body: (inout SuiteContents) throws -> Void) rethrows -> [String] {
        var contents: SuiteContents = [:]
        try body(&contents)
        // The subscripts keep the first failure for the suite that stores the contents.
        do { try DefaultsSuite.inMemory().replaceContents(with: contents) } catch {
            recordIssue("These settings cannot be launch arguments: \(error)")
            return []
        }
        return contents.flatMap { key, value in
            if key.isEmpty || key.utf8.contains(0) {
                recordIssue("The key “\(key)” cannot be a launch argument.")
                return [String]()
            }
            return ["-" + key, value.argument]
        }
    }
}

extension PropertyList {
    /// The value as an XML property list. If that is read back as a different value, a comment
    /// before it has the exact value in JSON, which `DefaultsSuite.Layer.arguments` reads.
    fileprivate var argument: String {
        guard PropertyList(argument: xml) != self else { return xml }
        // Escape “>”, which can only occur in a string, so that nothing in the JSON ends the
        // comment.
        let json = self.jsonText.unicodeScalars.map { $0 == ">" ? "\\u003e" : String($0) }
        return "<!--\(json.joined())-->\(xml)"
    }

    private var xml: String {
        switch self {
        case .bool(let value): return value ? "<true/>" : "<false/>"
        case .integer(let value): return "<integer>\(value)</integer>"
        case .unsigned(let value): return "<integer>\(value)</integer>"
        case .double(let value):
            // A description has the shortest digits that read back the same.
            return "<real>\(value)</real>"
        case .string(let value): return "<string>\(value.escaped)</string>"
        case .data(let value): return "<data>\(value.base64EncodedString())</data>"
        case .date(let value):
            let seconds = value.timeIntervalSinceReferenceDate
            // Without text, `UserDefaults` reads no date, which is better than a wrong one.
            let text = (-63_113_904_000..<252_455_616_000).contains(seconds) ? value.ISO8601Format() : ""
            return "<date>\(text)</date>"
        case .array(let elements): return "<array>\(elements.map(\.xml).joined())</array>"
        case .dictionary(let entries):
            let xml = entries.sorted { $0.key < $1.key }.map { "<key>\($0.key.escaped)</key>\($0.value.xml)" }
            return "<dict>\(xml.joined())</dict>"
        }
    }
}

extension String {
    /// The string in XML. Control characters are escaped, because an argument cannot hold a zero
    /// byte and XML parsers may replace line ends.
    fileprivate var escaped: String {
        var escaped = UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "<", ">", "&", "\0"..."\u{1F}", "\u{7F}": escaped += "&#\(scalar.value);".unicodeScalars
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
