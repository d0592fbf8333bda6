/// The value of a key, as one type has seen it.
///
/// An immutable object, because copying a struct of two trees takes longer than the rest of a read.
final class SeenValue: Sendable {
    /// The result of decoding a stored value.
    enum Content: Sendable {
        case notDecoded
        case missing
        /// A `Box` of the type.
        case value(AnyBox)
        // Indirect, because an error takes 20 times the space of a box.
        indirect case failure(DefaultsError)

        /// Why the value, or parts of it, could not be read; `nil` if all of it was read.
        var errors: [DefaultsError]? {
            switch self {
            case .notDecoded, .missing: nil
            case .value(let box): box.recovery?.errors
            case .failure(let error): [error]
            }
        }

        /// Why the value could not be read as a whole.
        var failure: DefaultsError? { if case .failure(let error) = self { error } else { nil } }

        /// The parts that could not be read.
        var faults: [DecodingRecovery.Fault] {
            if case .value(let box) = self { box.recovery?.faults ?? [] } else { [] }
        }
    }

    let stored: PropertyList?
    /// The properties of a config that a layer gives in place of missing ones.
    let behind: [String: PropertyList]?
    /// The form in which the type writes what it reads: without what it does not know, and with
    /// what it reads from the default. `nil` if this was not determined.
    let form: PropertyList?
    /// Whether the type has written all that is stored.
    let isOwn: Bool
    let content: Content

    init(
        _ stored: PropertyList?, behind: [String: PropertyList]? = nil, form: PropertyList? = nil, isOwn: Bool = false,
        content: Content? = nil
    ) {
        (self.stored, self.behind, self.form, self.isOwn) = (stored, behind, form, isOwn)
        self.content = content ?? (stored == nil ? .missing : .notDecoded)
    }

    /// No value.
    static let missing = SeenValue(nil)
    /// A value that was not read yet.
    static let unread = SeenValue(nil, content: .notDecoded)

    func with(_ content: Content) -> SeenValue {
        SeenValue(stored, behind: behind, form: form, isOwn: isOwn, content: content)
    }

    /// Whether a write may replace the value without decoding it.
    var isExamined: Bool {
        if case .missing = content { return true }
        return isOwn || form != nil
    }
}
