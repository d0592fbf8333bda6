import SettingsFile

/// Where a value that cannot be read is kept before it is overwritten: under `<key>.unreadable`, or
/// `<key>.unreadable-2` if another value is there. So the first one and the latest one stay.
///
/// Two declarations of one key as different types make each other's values unreadable at every
/// write, so the number of copies has a limit.
package enum SetAside {
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

    /// Returns whether a key is that of a copy.
    package static func isCopy(_ key: String) -> Bool { key.hasSuffix(".unreadable") || key.hasSuffix(".unreadable-2") }

    /// Adds the key of the copy to the error of a value.
    static func note(_ copy: String, in error: inout DefaultsError) { error.reason += "; it is kept under “\(copy)”" }
}

extension SuiteCore {
    /// Returns the edit that keeps a value which is about to be overwritten, inside a write.
    ///
    /// - Parameter error: Why it cannot be read; afterward it names the copy.
    func setAside(_ value: Edit.Action, of key: String, _ error: inout DefaultsError) throws(DefaultsError) -> Edit {
        let (first, latest) = SetAside.copyKeys(of: key, keyLimit: traits.keyLimit)
        let copy = Edit(try isFree(first, for: value) ? first : latest, value)
        SetAside.note(copy.key, in: &error)
        return copy
    }

    /// Returns the edit that keeps a value which the backend itself cannot read.
    func setAsideUnknownValue(of key: String, _ error: inout DefaultsError) throws(DefaultsError) -> Edit {
        // Another backend cannot copy it, so it stays.
        guard let bytes = try settingsFile?.storedBytes(forKey: key) else { throw error }
        return try setAside(.copy(bytes), of: key, &error)
    }

    /// Returns whether nothing, or an equal value, is stored under the key.
    private func isFree(_ key: String, for value: Edit.Action) throws(DefaultsError) -> Bool {
        switch (try known(key), value) {
        case (.nothing, _): true
        case (.value(let stored), .store(let value)): stored == value
        case (.unreadable, .copy(let bytes)): try settingsFile?.storedBytes(forKey: key) == bytes
        default: false
        }
    }
}
