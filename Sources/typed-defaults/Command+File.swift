import Foundation
import SettingsFile
import SettingsFileInspection
import TypedDefaults

// The commands for the file in which a suite is stored.
extension Command {
    func info(_ suite: OpenSuite) throws(Failure) {
        try suite.checkExistence()
        guard let path = suite.path else {
            let keys = try suite.using { try $0.keys() }
            return try Output.print("location: managed by the system\nkeys: \(keys.count)")
        }
        let file = try OpenSuite.inspect(path)
        var lines = ["location: \(path)", "size: \(file.size) bytes", "keys: \(file.settingCount)"]
        lines += (file.contents.history ?? []).map { "migrated: “\($0)”" }
        if let version = file.version, let epoch = file.epoch {
            lines.append("format: version \(version), epoch \(epoch)")
            lines.append("records: \(file.records) (\(file.end - 64) bytes, about \(file.liveBytes) of them live)")
        }
        let copies = file.keys.filter(SetAside.isCopy)
        lines += copies.map { "set aside: the key “\($0)”" }
        lines += OpenSuite.copies(of: path).map { "set aside: \($0)" }
        if !file.problems.isEmpty { lines.append("problems: \(file.problems.count); see typed-defaults check") }
        try Output.print(lines.map(\.printable).joined(separator: "\n"))
    }

    /// Prints the problems of a settings file, or the contents of a damaged copy.
    func check(_ suite: OpenSuite, asJSON: Bool) throws(Failure) {
        guard let path = suite.path else {
            throw .unavailable("the system manages “\(suite.name)”, so there is no file to check")
        }
        try suite.checkExistence()
        let isCopy = path.contains(/\.damaged-[0-9a-f]{1,8}$/)
        let file = try OpenSuite.inspect(path)
        let copies = isCopy ? [path] : OpenSuite.copies(of: path)
        guard !copies.isEmpty || !file.problems.isEmpty else {
            return try Output.print(asJSON ? "{}" : "OK, \(keys(file.settingCount))")
        }
        var text = isCopy ? "" : file.problems.map { "\(path) \($0)".printable + "\n" }.joined()
        // The file itself comes last, because its values are the newest.
        var saved: [[UInt8]: (key: String, value: PropertyList?)] = [:]
        func add(_ salvageable: [(key: String, value: PropertyList?)]) {
            if !salvageable.isEmpty { text += "  undamaged records that are no longer part of the suite:\n" }
            for (key, value) in salvageable {
                text += "  " + Self.line(key, value)
                saved[Array(key.utf8)] = (key, value)
            }
        }
        for copy in copies {
            text += "\(copy) is a damaged copy that was set aside".printable + "\n"
            add(copy == path ? file.salvageableValues : try OpenSuite.inspect(copy).salvageableValues)
        }
        if !isCopy { add(file.salvageableValues) }
        if asJSON {
            let contents = SuiteContents(stored: saved.values.compactMap { key, value in value.map { (key, $0) } })
            text = String(decoding: contents.json(), as: UTF8.self) + "\n"
        }
        try Output.write(Data(text.utf8))
        throw .missing(
            "“\(suite.name)”: problems: \(isCopy ? 0 : file.problems.count), damaged copies: \(copies.count)")
    }

    /// Makes a damaged settings file usable again, and prints what was kept.
    func repair(_ suite: OpenSuite) throws(Failure) {
        guard let path = suite.path else {
            throw .unavailable("the system manages “\(suite.name)”, so there is no file to repair")
        }
        try suite.checkExistence()
        let repaired: (copy: String, old: FileInspection)?
        do throws(DefaultsError) { repaired = try FileInspection.repair(path) } catch {
            throw .unavailable("\(error)")
        }
        guard let (copy, old) = repaired else {
            // Opening the suite sets aside any other damage, which prints a message.
            let count = try suite.update { $0.keys.count }
            return try Output.print("OK, \(keys(count))")
        }
        let kept = old.salvageableValues.filter { $0.value != nil }
        try Output.write(Data(kept.map { Self.line($0.key, $0.value, limit: 100) }.joined().utf8))
        Output.printDiagnostic(
            "repaired “\(suite.name)”: \(keys(kept.count)) could be read and stored again;"
                + " all bytes of the damaged file are in \(copy)")
    }

    private func keys(_ count: Int) -> String { "\(count) \(count == 1 ? "key" : "keys")" }
}
