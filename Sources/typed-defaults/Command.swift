import Foundation
import TypedDefaults

enum Command: String, CaseIterable {
    case suites, path, list, get, set, remove, export, `import`, diff, watch, info, check, repair, help

    init(named name: String) throws(Failure) {
        guard let command = Self(rawValue: name) else {
            throw .usage("unknown command “\(name)”\(didYouMean(name, in: Self.allCases.map(\.rawValue)))")
        }
        self = command
    }

    func run(_ arguments: Arguments) throws(Failure) {
        let words = Array(arguments.positional.dropFirst())
        guard counts.contains(words.count) else {
            throw .usage("\(rawValue) expects \(form.isEmpty ? "no arguments" : form)", of: self)
        }
        let foreign = arguments.options.subtracting(options).map(\.rawValue).sorted()
        guard foreign.isEmpty else {
            throw .usage("\(rawValue) has no option \(foreign.joined(separator: " or "))", of: self)
        }
        guard !arguments.options.isSuperset(of: [.json, .plist]) else { throw .usage("use either --json or --plist") }
        guard let name = words.first else { return try self == .help ? Output.print(Self.overview) : printSuites() }
        guard self != .help else { return try Output.print(Self(named: name).help) }
        let suite = try OpenSuite(name)
        switch self {
        case .suites, .help: break
        case .path: try printPath(suite)
        case .list: try list(suite, arguments.options)
        case .get: try get(suite, words[1], isRaw: arguments.options.contains(.raw))
        case .set: try set(suite, words[1], words[2], arguments.options)
        case .remove: try remove(suite, Array(words[1...]))
        case .export: try export(suite, to: words.count > 1 ? words[1] : nil, arguments.options)
        case .import: try importing(suite, from: words[1], isReplacing: arguments.options.contains(.replace))
        case .diff: try diff(suite, words[1])
        case .watch: try watch(suite, asJSON: arguments.options.contains(.json))
        case .info: try info(suite)
        case .check: try check(suite, asJSON: arguments.options.contains(.json))
        case .repair: try repair(suite)
        }
    }

    private var counts: ClosedRange<Int> {
        switch self {
        case .suites: 0...0
        case .help: 0...1
        case .path, .list, .watch, .info, .check, .repair: 1...1
        case .get, .import, .diff: 2...2
        case .set: 3...3
        case .remove: 2...Int.max
        case .export: 1...2
        }
    }

    private var options: Set<Arguments.Option> {
        switch self {
        case .list, .export: [.json, .plist]
        case .get: [.raw]
        case .set: [.string, .key, .part]
        case .import: [.replace]
        case .watch, .check: [.json]
        default: []
        }
    }
}

// One key.
extension Command {
    private func printPath(_ suite: OpenSuite) throws(Failure) {
        guard let path = suite.path else {
            // Throws the reason if the suite has no location.
            _ = try suite.using { try $0.keys() }
            throw .unavailable("the system manages “\(suite.name)”, and its path is not known")
        }
        try Output.print(path)
    }

    private func get(_ suite: OpenSuite, _ key: String, isRaw: Bool) throws(Failure) {
        try suite.checkExistence()
        let (path, failure) = try suite.find(key)
        guard let path else {
            if let failure { throw failure }
            let keys = try suite.contents().0.keys
            throw .missing("“\(suite.name)” has no key “\(key)”\(didYouMean(key, in: keys))")
        }
        let value = try path.part()
        if isRaw, case .string(let text) = value {
            try Output.print(text)
        } else {
            try Output.write(value.json(isPretty: true) + Data("\n".utf8))
        }
        if let failure { throw failure }
    }

    private func set(
        _ suite: OpenSuite, _ key: String, _ text: String, _ options: Set<Arguments.Option>
    ) throws(Failure) {
        guard !options.isSuperset(of: [.key, .part]) else { throw .usage("use either --key or --part") }
        let value: PropertyList
        if options.contains(.string) {
            value = .string(text)
        } else {
            do throws(DefaultsError) { value = try PropertyList(json: Data(text.utf8)) } catch {
                guard error.kind == .unreadable else {
                    throw .unavailable("the value cannot be stored: \(error.reason)")
                }
                throw .usage("the value cannot be read: \(error.reason); write a string as '\"text\"' or --string text")
            }
        }
        // Another process may be faster, or have created the file and not written to it yet.
        let isMissing = try !suite.hasRecords
        let isNew = try suite.update { contents in
            let isEmpty = contents.isEmpty
            try self.store(value, at: key, options, in: &contents)
            return isMissing && isEmpty
        }
        if isNew { Output.printDiagnostic("created the suite “\(suite.name)”\(suite.suggestion)") }
    }

    /// Stores a value under a key, or as a part of the value of a key.
    private func store(
        _ value: PropertyList, at text: String, _ options: Set<Arguments.Option>, in contents: inout SuiteContents
    ) throws(Failure) {
        let isKey = contents[text] != nil || contents.unreadableKeys.contains(text)
        if options.contains(.key) || !options.contains(.part) && (isKey || !text.contains(".")) {
            contents[text] = value
            return
        }
        // The text itself may be a key as well.
        var path = try ValuePath(text) { key throws(Failure) in key == text ? nil : contents[key] }
        if path == nil, options.contains(.part) { path = try ValuePath(new: text) }
        guard let path else {
            throw .usage(
                "“\(text)” is neither a key nor a part of one: --key stores a key of that name, --part"
                    + " adds a part to “\(text.prefix { $0 != "." })”", of: self)
        }
        // A misspelled name would be stored, and no program would read it.
        if !options.contains(.part) { _ = try path.part(orHint: ", which --part adds") }
        contents[path.key] = try path.replacing(with: value)
    }

    private func remove(_ suite: OpenSuite, _ texts: [String]) throws(Failure) {
        try suite.checkExistence()
        // Each once, and the last elements of an array first, because the others move up: of two
        // indices, the longer one is the greater.
        let unique = Dictionary(texts.map { (Array($0.utf8), $0) }) { first, _ in first }.values
        let texts = unique.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
        try suite.update { contents in
            for text in texts {
                if contents[text] != nil || contents.unreadableKeys.contains(text) {
                    contents[text] = nil
                } else if let path = try ValuePath(text, { contents[$0] }) {
                    _ = try path.part()
                    contents[path.key] = try path.replacing(with: nil)
                } else {
                    throw Failure.missing(
                        "“\(suite.name)” has no key “\(text)”\(didYouMean(text, in: contents.keys)); nothing was removed"
                    )
                }
            }
        }
    }
}

// Whole suites.
extension Command {
    private func list(_ suite: OpenSuite, _ options: Set<Arguments.Option>) throws(Failure) {
        guard options.isEmpty else { return try export(suite, to: nil, options) }
        try suite.checkExistence()
        let (contents, failure) = try suite.contents()
        try Output.write(Data(contents.map { Self.line($0.key, $0.value, limit: 100) }.joined().utf8))
        if let failure { throw failure }
    }

    /// Returns a setting on one line, with the value truncated to the limit.
    static func line(_ key: String, _ value: PropertyList?, limit: Int? = nil) -> String {
        let isPlain = key.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || "0123456789._-$".unicodeScalars.contains($0)
        }
        let name = isPlain && !key.isEmpty ? key : PropertyList.string(key).jsonText
        let text = value.map { $0.jsonText } ?? "(removed)"
        guard let limit, text.count > limit else { return "\(name) = \(text)\n" }
        return "\(name) = \(text.prefix(limit))… (\(text.utf8.count) bytes)\n"
    }

    private func export(_ suite: OpenSuite, to file: String?, _ options: Set<Arguments.Option>) throws(Failure) {
        try suite.checkExistence()
        let (contents, failure) = try suite.contents()
        let file = file == "-" ? nil : file
        if let file {
            if let failure { throw .unavailable("\(failure.message); nothing was written to \(file)") }
            try checkReplacement(of: file, suite)
        }
        let data =
            options.contains(.plist)
            ? try PropertyListFile.data(of: contents.stored) : contents.json() + Data("\n".utf8)
        if let file { try File.write(data, to: file) } else { try Output.write(data) }
        if let failure { throw failure }
    }

    /// Throws if the file is the suite itself, or may be a backup of values that it has lost.
    private func checkReplacement(of file: String, _ suite: OpenSuite) throws(Failure) {
        guard let path = suite.path else { return }
        guard !File.areSame(file, path) else { throw .unavailable("\(file) is the file of “\(suite.name)” itself") }
        guard let copy = OpenSuite.copies(of: path).last, File.kind(of: file) == S_IFREG else {
            return
        }
        throw .unavailable(
            "\(file) was not replaced, because it may have values that “\(suite.name)” has lost. "
                + "The damaged bytes are in \(copy); see typed-defaults check \(suite.name)")
    }

    private func importing(_ suite: OpenSuite, from file: String, isReplacing: Bool) throws(Failure) {
        let imported = try Self.contents(in: File.read(file), file)
        let isUnknown = imported.history == nil
        let isRecorded = try suite.update { contents in
            if isReplacing { contents.removeAll(includingHistory: !isUnknown) }
            do { try contents.merge(imported) } catch let error as DefaultsError where error.kind == .refused {
                throw Failure.unavailable(
                    "\(error); import \(file) with the program, or use --replace, which removes the present values")
            }
            return contents.history?.isEmpty == false
        }
        guard isUnknown, !isRecorded, !imported.isEmpty else { return }
        Output.printDiagnostic(
            "neither \(file) nor “\(suite.name)” has a history of migrations: if the program has any, all of them will"
                + " run on these values at its next start")
    }
}
