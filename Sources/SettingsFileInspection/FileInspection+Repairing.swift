import SettingsFile
package import TypedDefaults

extension FileInspection {
    /// Replaces a file with a damaged header by one with the values that can be read. Copies all
    /// of its bytes to a file beside it first.
    ///
    /// - Parameter path: An absolute path.
    /// - Returns: The path of the copy, and the old file; `nil` if there is no file, or its header
    ///   is not damaged.
    package static func repair(_ path: String) throws(DefaultsError) -> (copy: String, old: FileInspection)? {
        guard var old = try FileInspection(path), old.isHeaderDamaged else { return nil }
        do throws(FileFailure) {
            let (target, directory) = try SettingsFileLocation(path: path).followingLinks()
            let file = try directory.file(target.name, .readWrite)
            let status = try file.status()
            guard status.isOfThisUser, status.isRegular, status.links <= 1 else {
                throw FileFailure("it has another owner or several links; see typed-defaults check")
            }
            guard try file.tryLock() else { throw FileFailure("another process is using it") }
            // Another process may have repaired it in the meantime.
            guard let now = try? FileInspection(path), now.isHeaderDamaged else { return nil }
            old = now
            let copy = try target.copyAside(file.read(at: 0, count: status.size))
            var edits = RecordWriter()
            for (key, value) in old.salvageable { if let value { edits.append(key, raw: value[...]) } }
            let bytes = RecordFormat.file(epoch: 0, edits.withBytes { Array($0[8...]) })
            // Both files are unlocked when they are closed.
            try target.install(bytes, in: directory, inPlaceOf: file)
            try directory.flushNames()
            return (copy, old)
        } catch {
            throw DefaultsError(.unavailable, reason: "the file \(path) cannot be repaired: \(error.reason)")
        }
    }
}
