import SettingsFile

/// The copies of values that cannot be read and are about to be overwritten: under
/// `<key>.unreadable`, or `<key>.unreadable-2` if another value is there. So the first copy and the
/// latest one remain.
///
/// Two declarations of one key as different types make each other's values unreadable at every
/// write, so the number of copies has a limit.
package enum SetAside {
    /// Returns the keys for the first copy and for the latest one.
    ///
    /// The key of a setting may be so long that the backend would refuse the key of its copy. The
    /// copy's key then consists of as much of the key as fits and a checksum of the whole key.
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

    /// Returns whether a key is the key of a copy.
    package static func isCopy(_ key: String) -> Bool { key.hasSuffix(".unreadable") || key.hasSuffix(".unreadable-2") }

    /// Adds the key of the copy to the error of a value.
    static func add(_ copy: String, to error: inout DefaultsError) {
        error.reason += "; the old value is kept under “\(copy)”"
    }
}

extension SuiteCore {
    /// Returns the edit that copies a value that is about to be overwritten. Call this inside a
    /// write.
    ///
    /// - Parameter error: The reason why the value cannot be read. On return, it names the copy.
    func setAside(_ value: Edit.Action, of key: String, _ error: inout DefaultsError) throws(DefaultsError) -> Edit {
        let (first, latest) = SetAside.copyKeys(of: key, keyLimit: traits.keyLimit)
        let copy = Edit(try isFree(first, for: value) ? first : latest, value)
        SetAside.add(copy.key, to: &error)
        return copy
    }

    /// Returns the edit that copies a value that the backend itself cannot read.
    func setAsideUnreadableValue(of key: String, _ error: inout DefaultsError) throws(DefaultsError) -> Edit {
        // Other backends cannot copy it, so it stays.
        guard let bytes = try settingsFile?.storedBytes(forKey: key) else { throw error }
        return try setAside(.copy(bytes), of: key, &error)
    }

    /// Returns whether nothing, or an equal value, is stored under the key.
    private func isFree(_ key: String, for value: Edit.Action) throws(DefaultsError) -> Bool {
        switch (try find(key), value) {
        case (.nothing, _): true
        case (.value(let stored), .store(let value)): stored == value
        case (.unreadable, .copy(let bytes)): try settingsFile?.storedBytes(forKey: key) == bytes
        default: false
        }
    }
}
