import Foundation
import TypedDefaults

// The commands for several suites.
extension Command {
    func printSuites() throws(Failure) {
        #if canImport(Darwin)
            throw .unavailable("the system manages named suites; “defaults domains” lists them all")
        #else
            try Output.write(Data(OpenSuite.names().map { "\($0)\n" }.joined().utf8))
        #endif
    }

    /// Prints what differs between a suite and another one, or an exported file.
    func diff(_ suite: OpenSuite, _ other: String) throws(Failure) {
        try suite.checkExistence()
        let (old, failure) = try suite.contents()
        let (new, otherFailure) = try Self.contents(of: other)
        let keys = (old.keys + new.keys.filter { old[$0] == nil }).map { (key: $0, value: true as PropertyList) }
        let lines = keys.sortedByBytes().flatMap { Self.differences(old[$0.key], new[$0.key], at: $0.key) }
        try Output.write(Data(lines.joined().utf8))
        if let failure = failure ?? otherFailure { throw failure }
        guard lines.isEmpty else { throw .missing("“\(suite.name)” and “\(other)” differ") }
    }

    private static func differences(_ old: PropertyList?, _ new: PropertyList?, at path: String) -> [String] {
        if old == new { return [] }
        if case .dictionary(let old) = old, case .dictionary(let new) = new {
            let names = Set(old.keys).union(new.keys).sorted()
            let parts = names.flatMap { differences(old[$0], new[$0], at: "\(path).\($0)") }
            // Two names may be equal as strings and differ in their bytes.
            if !parts.isEmpty { return parts }
        }
        return (old.map { ["- " + line(path, $0)] } ?? []) + (new.map { ["+ " + line(path, $0)] } ?? [])
    }

    /// Returns the contents of a suite or of an exported file.
    private static func contents(of word: String) throws(Failure) -> (SuiteContents, failure: Failure?) {
        if word.contains("/") || word == "-" {
            let data = try File.read(word)
            if isExport(data) || word == "-" { return (try contents(in: data, word), nil) }
        } else if File.kind(of: word) == S_IFREG, try !OpenSuite(word).isFile {
            return (try contents(in: File.read(word), word), nil)
        }
        let suite = try OpenSuite(word)
        try suite.checkExistence()
        return try suite.contents()
    }

    /// Returns whether the data begins like an export. A settings file does not.
    private static func isExport(_ data: Data) -> Bool {
        PropertyListFile.isOne(data) || data.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
    }

    /// Returns the contents of an exported file.
    static func contents(in data: Data, _ name: String) throws(Failure) -> SuiteContents {
        let name = name == "-" ? "standard input" : name
        guard !PropertyListFile.isOne(data) else {
            return SuiteContents(stored: try PropertyListFile.settings(in: data, name))
        }
        do { return try SuiteContents(json: data) } catch {
            throw .unavailable("\(name) is neither a property list nor the JSON of a suite: \(error)")
        }
    }
}
