import SettingsFile

/// Where a value that cannot be read is kept before it is overwritten: under `<key>.unreadable`, or
/// `<key>.unreadable-2` if another value is there. So the first one and the latest one stay.
///
/// Two declarations of one key as different types make each other's values unreadable at every
/// write, so the number of copies has a limit.
enum SetAside {
    /// Returns the keys for the first copy and for the latest one.
    ///
    /// The key of a setting may be so long that the backend does not take the key of its copy. Then
    /// the copy's key has its longest possible beginning, and a checksum of all of it.
    static func copyKeys(of key: String, keyLimit: Int) -> (first: String, latest: String) {
        func copyKey(_ suffix: String) -> String {
            guard key.utf8.count + suffix.utf8.count > keyLimit else { return key + suffix }
            let digits = String(Array(key.utf8).withUnsafeBytes { CRC32C.checksum(of: $0) }, radix: 16)
            let end = "~" + String(repeating: "0", count: 8 - digits.count) + digits + suffix
            var beginning = key[...]
            while beginning.utf8.count + end.utf8.count > keyLimit, !beginning.isEmpty { beginning.removeLast() }
            return beginning + end
        }
        return (copyKey(".unreadable"), copyKey(".unreadable-2"))
    }

    /// Adds the key of the copy to the error of a value.
    static func note(_ copy: String, in error: inout DefaultsError) { error.reason += "; it is kept under “\(copy)”" }
}

extension SuiteCore {
    /// Returns the edit that keeps a value of which the slot's type does not read all, inside a
    /// write.
    ///
    /// - Parameter error: Why it cannot be read; afterward it names the copy.
    func setAside(_ value: StoredValue, of key: String, _ error: inout DefaultsError) throws(DefaultsError) -> Edit {
        let (first, latest) = SetAside.copyKeys(of: key, keyLimit: backend.keyLimit)
        let copy = try isFree(first, for: value) ? first : latest
        SetAside.note(copy, in: &error)
        return (copy, value)
    }

    /// Returns whether nothing, or an equal value, is stored under the key.
    private func isFree(_ key: String, for value: StoredValue) throws(DefaultsError) -> Bool {
        do throws(DefaultsError) { return try backend.storedValue(forKey: key).map { $0 == value } ?? true } catch {
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
        try commit([(slot.key, new)], by: slot)
        if let copy { report(copy.error) }
    }

    /// Copies a value that the backend itself cannot read, as a commit of its own that comes first:
    /// whatever happens then, nothing is lost.
    ///
    /// - Returns: The key of the copy and the error to report.
    func setAsideUnknownValue(
        of key: String, as name: String, _ failure: DefaultsError? = nil
    ) throws(DefaultsError) -> (key: String, error: DefaultsError) {
        var failure =
            failure
            ?? DefaultsError(
                .unreadable, key: key, reason: "the stored bytes are not a value that this version can read")
        guard let settingsFile else { throw failure }
        let (first, latest) = SetAside.copyKeys(of: name, keyLimit: backend.keyLimit)
        let copy = try settingsFile.copyRawValue(forKey: key, to: first, else: latest)
        writeGeneration = try catchUp()
        SetAside.note(copy, in: &failure)
        return (copy, failure)
    }
}
