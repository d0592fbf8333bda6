/// A failure of a settings file. Its reason contains no stored value.
package struct SettingsFileError: Error, Sendable {
    package enum Kind: Sendable { case unreadable, unavailable, refused, timedOut }

    package let kind: Kind
    package let reason: String

    package init(_ kind: Kind, reason: String) { (self.kind, self.reason) = (kind, reason) }
}
