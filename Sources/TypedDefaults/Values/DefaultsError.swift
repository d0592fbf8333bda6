#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An error of a setting. Its text contains names and types, but never a stored value.
///
/// ```swift
/// do { try store.save(config) } catch let error as DefaultsError where error.kind == .unavailable { showOffline() }
/// ```
///
/// ## Topics
///
/// ### What failed
///
/// - ``kind-swift.property``
/// - ``Kind-swift.struct``
/// - ``key``
/// - ``type``
/// - ``path``
/// - ``reason``
/// - ``description``
///
/// ### Creating an error
///
/// - ``init(_:key:type:path:reason:)``
public struct DefaultsError: Error, Hashable, Sendable {
    /// The kind of a failure. Later versions may add kinds, so a `switch` over them needs a
    /// `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind in words.
        public let description: String
        private init(_ description: String) { self.description = description }

        /// A value is stored, but the declared type cannot be created from it.
        public static let unreadable = Kind("unreadable")
        /// The settings cannot be read or written now. Stored values are unknown and unchanged.
        public static let unavailable = Kind("unavailable")
        /// The value cannot be stored, such as one of a type that property lists do not hold, or
        /// values of another version; see ``SuiteContents/history``. Nothing was written.
        public static let refused = Kind("refused")
        /// The value breaks the ``DefaultRule`` of its setting. Nothing was written. In a
        /// list of faults, it can also be a value that is stored.
        public static let invalid = Kind("invalid")
        /// An administrator provides the value, so the program cannot change it. Nothing was
        /// written. See ``UserDefault/isManaged``.
        public static let managed = Kind("managed")
        /// Another writer held the suite for more than two seconds, or still holds it in the second
        /// after such a timeout. Or other machines repeatedly changed what the write depends on.
        /// Nothing was written. See ``BackendTraits/writeTimeout``.
        public static let timedOut = Kind("timed out")
        /// A suite was written from inside its own `update`. Nothing was written.
        public static let nestedWrite = Kind("nested write")
        /// A stored entry that the type does not have, such as one of a newer version or a
        /// misspelled one. Only lists of faults have it; see ``DefaultKey/faults(in:)``.
        public static let unknownEntry = Kind("unknown entry")
        /// Two declarations of one key contradict each other, and both continue to work as
        /// declared. Or a value was copied instead of renamed, because its new key has another
        /// value. Or values were imported that another or a newer program has migrated.
        public static let conflict = Kind("conflict")
        /// The value may be stored or not, such as when a connection was lost during a write. Read
        /// it again.
        public static let unknownOutcome = Kind("unknown outcome")
        /// The name of a suite is not valid on every platform.
        public static let invalidName = Kind("invalid name")
    }

    private struct Fields: Hashable, Sendable {
        let kind: Kind
        var key: String?
        var type: String?
        var path: [String]
        var reason: String
    }
    /// Indirect, so that an error takes one word: each function that passes a value on also passes
    /// space for an error, which is usually empty.
    private indirect enum Storage: Hashable, Sendable { case fields(Fields) }
    private var storage: Storage
    private var fields: Fields {
        get {
            switch storage {
            case .fields(let fields): fields
            }
        }
        set { storage = .fields(newValue) }
    }

    /// The kind of the failure.
    public var kind: Kind { fields.kind }
    /// The key of the setting; `nil` if the failure does not concern a single key.
    public internal(set) var key: String? {
        get { fields.key }
        set { fields.key = newValue }
    }
    /// The name of the declared type, or of the type that a property list cannot hold.
    public internal(set) var type: String? {
        get { fields.type }
        set { fields.type = newValue }
    }
    /// The path from the whole value to the part that failed: property names, indices such as "3",
    /// and `*` for the key of a dictionary, because keys are stored data.
    ///
    /// A coding key is a property name if it is a case of an enum, and `*` otherwise. In the object
    /// that ``PropertyList/init(_:)`` takes and `serialize()` returns, all keys count as property
    /// names.
    public internal(set) var path: [String] {
        get { fields.path }
        set { fields.path = newValue }
    }
    /// The reason, in one sentence.
    public internal(set) var reason: String {
        get { fields.reason }
        set { fields.reason = newValue }
    }

    /// Creates an error, such as one that your own backend or store throws.
    public init(_ kind: Kind, key: String? = nil, type: String? = nil, path: [String] = [], reason: String) {
        storage = .fields(Fields(kind: kind, key: key, type: type, path: path, reason: reason))
    }

    /// Returns the error with a key, unless it already has one.
    func about(key: String) -> DefaultsError {
        var error = self
        error.key = self.key ?? key
        return error
    }
}

extension DefaultsError: DescribedError {
    /// The kind, key, type, path and reason in one line.
    public var description: String {
        var text = kind.description
        // A key has up to 4,096 bytes.
        if let key { text += " “\(key.prefix(100))\(key.dropFirst(100).isEmpty ? "" : "…")”" }
        if let type { text += " (\(type))" }
        if !path.isEmpty { text += " at \(path.joined(separator: "."))" }
        return "\(text): \(reason)".printable
    }
}

extension String {
    /// The text for a terminal or a log, with escapes in place of control characters and of those
    /// that change the direction of text. A key may contain any of them.
    package var printable: String {
        let escaped: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
        return unicodeScalars.reduce(into: "") { text, scalar in
            let isEscaped = escaped.contains(scalar.properties.generalCategory)
            text += isEscaped ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
    }
}

/// An error whose `localizedDescription` is its description.
protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    public var errorDescription: String? { description }
}
