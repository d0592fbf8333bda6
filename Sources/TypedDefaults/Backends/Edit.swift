import SettingsFile

/// A change that a commit makes to one key.
package struct Edit {
    package enum Action {
        case store(PropertyList)
        /// Stores a copy of bytes that the settings file has and this version cannot read. Used
        /// only in edits of a settings file.
        case copy([UInt8])
        case remove
    }
    package let key: String
    package let action: Action

    init(_ key: String, _ action: Action) { (self.key, self.action) = (key, action) }

    /// - Parameter value: The value to store; `nil` to remove the key.
    package init(_ key: String, _ value: PropertyList?) { self.init(key, value.map(Action.store) ?? .remove) }

    /// The value to store; `nil` if there is none.
    package var value: PropertyList? { if case .store(let value) = action { value } else { nil } }

    /// Throws if the key is too long.
    func checkKey() throws(DefaultsError) {
        guard key.utf8.count > RecordFormat.keyLimit else { return }
        throw DefaultsError(.refused, key: key, reason: "the key is longer than \(RecordFormat.keyLimit) bytes")
    }
}
