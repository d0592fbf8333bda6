/// What went wrong with a settings file, in words that hold no stored value.
package struct SettingsFileError: Error, Sendable {
    package enum Kind: Sendable { case unreadable, unavailable, refused, timedOut }

    package let kind: Kind
    package let reason: String

    init(_ kind: Kind, reason: String) { (self.kind, self.reason) = (kind, reason) }
}
