import TypedDefaults

extension ReleasedProgram {
    /// Compares the program with the records of its releases, which are files in a folder.
    ///
    /// - Returns: What to tell the developer; `nil` if the record of this release is up to date.
    func check(_ version: String, in folder: String, isRecording: Bool) throws -> String? {
        var others: [String: ReleaseRecord] = [:]
        for file in try Fixture.all(in: folder) { others[file.name] = try file.decode(ReleaseRecord.self) }
        let old = others.removeValue(forKey: version)
        var new = try ReleaseRecord(of: self)
        for (version, other) in others.sorted(by: { $0.key < $1.key }) {
            for line in ReleaseComparison(self, from: other, to: new).lines
            // An earlier release may have made the same difference for these users.
            where !others.values.contains(where: { $0.approved[line]?.contains(version) == true }) {
                new.approved[line, default: []].append(version)
            }
        }
        guard old != new else { return nil }
        let open = new.approved.filter { $0.value != old?.approved[$0.key] }
        var texts = ["Release \(version) \(old == nil ? "has no record" : "differs from its record"):"]
        texts += open.map { "\($0.key) (users of \($0.value.joined(separator: ", ")))" }.sorted()
        texts += (old?.approved ?? [:]).keys.filter { new.approved[$0] == nil }.map { "no longer so: \($0)" }.sorted()
        if let old, old.samples != new.samples {
            texts += ReleaseComparison(self, from: old, to: new).lines.map { "since its record: \($0)" }.sorted()
            texts.append("If \(version) has been released, pass the next version. Its record must not change.")
        }
        if texts.count > 1 { texts.append("Usual cures: a step of the migrator, a wider type or rule, an optional.") }
        texts += new.unsampled.map { "No sample chooses \($0): make its type CaseIterable, or pass `samples`." }
        let file = Fixture(path: "\(folder)/\(version).json")
        if isRecording { try file.write(PropertyList(encoding: new).json(isPretty: true) + "\n") }
        let next = isRecording ? "Written; read and commit" : "To approve, run it once with `record: true`, and commit"
        return (texts + ["\(next) \(file.path)"]).joined(separator: "\n")
    }
}
