// How a save makes sure that the value comes back as it was stored.
//
// A type that tries several types in its `init(from:)` can read another value than the one it
// wrote: a URL where the text of a `String` was stored, or nil where it stored the nil of a type
// inside it. The nodes are the same, so comparing them would show nothing. Therefore the value and
// what is read back are both encoded once more with a `RoundTripTrace`, which adds to each node the
// type that wrote it, and these two are compared.
//
// To do that at each save would triple its cost. It is needed only
// - for the first value of a type, and of each type inside it (`CheckedTypes`),
// - for a type that encodes itself in more than one form, a number now and a string later,
// - for a type whose `init(from:)` tried something that failed before it succeeded,
// - for a nil that is written by something else than an optional.
// The encoder notices the last three while it works.

/// Adds to each node the type that wrote it, and collects the types that encode themselves.
///
/// What is built is compared and never stored.
final class RoundTripTrace {
    /// The entry of a dictionary that says which type its keys are of, and whether they are data.
    static let keyOfForm = "\0keys"

    private(set) var forms: [(type: Any.Type, form: ObjectIdentifier)] = []

    func note(_ type: Any.Type, _ form: ObjectIdentifier) { forms.append((type, form)) }

    static func mark(_ type: ObjectIdentifier?) -> PropertyList {
        // Safe: no address is larger than 64 bits.
        .integer(PropertyList.Integer(exactly: type.map { UInt(bitPattern: $0) } ?? 0)!)
    }

    static func node(_ node: PropertyList, of type: Any.Type) -> PropertyList {
        .array([mark(ObjectIdentifier(type)), node])
    }

    static func layer(around node: PropertyList) -> PropertyList { .array([node]) }
}

/// The types that are known to read back what they encode, each in the one form in which it does.
enum CheckedTypes {
    /// The form of a type; `nil` for one that has several, or tries several when it is read.
    private static let forms = Forks.holding(Locked<[ObjectIdentifier: ObjectIdentifier?]>([:]))

    static func contains(_ type: Any.Type, _ form: ObjectIdentifier) -> Bool {
        forms.withLock { $0[ObjectIdentifier(type)] == .some(.some(form)) }
    }

    /// Adds the types of a value that was read back the same.
    static func insert(_ types: [(type: Any.Type, form: ObjectIdentifier)]) {
        forms.withLock { forms in
            for (type, form) in types {
                let known = forms[ObjectIdentifier(type)]
                if known == nil {
                    forms[ObjectIdentifier(type)] = .some(form)
                } else if known != .some(form) {
                    forms[ObjectIdentifier(type)] = .some(nil)
                }
            }
        }
    }

    /// Notes a type that tried to read something else first: what it reads depends on the value.
    static func noteAmbiguity(of type: Any.Type) {
        forms.withLock { $0[ObjectIdentifier(type)] = .some(nil) }
    }
}
