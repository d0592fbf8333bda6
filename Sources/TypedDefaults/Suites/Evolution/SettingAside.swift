import SettingsFile

// Copying a value that cannot be read to another key before it is overwritten. SetAside.swift says
// which keys, and lists the copies.
extension SuiteCore {
    /// Returns the edits that keep a value of which the slot's type does not read all, inside a
    /// write.
    ///
    /// - Parameter error: Why it cannot be read; afterward it names the copy.
    func setAside(
        _ value: PropertyList, of key: String, _ error: inout DefaultsError
    ) throws(DefaultsError) -> [Edit] {
        SetAside.edits(
            keeping: value, of: key, isFree: try isFree(SetAside.copyKeys(of: key).first, for: value), &error,
            keyLimit: backend.keyLimit
        ).map(Self.edit)
    }

    /// Returns whether nothing, or an equal value, is stored under the key.
    private func isFree(_ key: String, for value: PropertyList) throws(DefaultsError) -> Bool {
        do throws(DefaultsError) { return try backend.value(forKey: key).map { $0 == value } ?? true } catch {
            // A copy of a value that the backend itself cannot read.
            guard error.kind == .unreadable else { throw error }
            return false
        }
    }

    /// Commits a new value in place of one that the backend itself cannot read, after copying that
    /// one as it is.
    func replaceUnknown(
        _ slot: Slot, with new: StoredValue?, keepsUnreadable: Bool, _ failure: DefaultsError
    ) throws(DefaultsError) {
        guard failure.kind == .unreadable, let key = failure.key else { throw failure }
        let copy = keepsUnreadable ? try setAsideUnknownValue(of: key, as: slot.key, failure) : nil
        try commit([(key: slot.key, value: new)] + (copy?.info ?? []).map(Self.edit), by: slot)
        if let copy { report(copy.error) }
    }

    /// Copies a value that the backend itself cannot read, as a commit of its own that comes first:
    /// whatever happens then, nothing is lost.
    ///
    /// - Returns: The key of the copy, the edit that says when and why it was made, and the error
    ///   to report.
    func setAsideUnknownValue(
        of key: String, as name: String, _ failure: DefaultsError? = nil
    ) throws(DefaultsError) -> (key: String, info: [(key: String, value: PropertyList?)], error: DefaultsError) {
        var failure =
            failure
            ?? DefaultsError(
                .unreadable, key: key, reason: "the stored bytes are not a value that this version can read")
        guard let settingsFile else { throw failure }
        let (first, latest) = SetAside.copyKeys(of: name)
        let copy = try settingsFile.copyRawValue(forKey: key, to: first, else: latest)
        writeGeneration = try catchUp()
        let info = SetAside.info(ofCopy: copy, failure, keyLimit: backend.keyLimit)
        failure.reason += "; it is kept under “\(copy)”"
        return (copy, info, failure)
    }
}
