// How a save ensures that a value reads back without a loss of data.
//
// A type that tries several types in its `init(from:)` can read another value than the one it
// wrote, such as a URL where a `String` was stored. The stored nodes are the same, so comparing
// them would not show the difference. The value and its copy are therefore both encoded once more
// with a `RoundTripTrace`, which adds to each node the type that wrote it, and `RoundTrip` compares
// these trees.
//
// The check would triple the cost of a save. It is needed only
// - for the first value of a type, and of each type inside it (`CheckedTypes`),
// - for the first value in each form of a type, which is the types of its containers and values,
// - for a type that writes values of several types in one place, such as a number or a string,
// - for a type that writes a property and does not read it,
// - for a type whose `init(from:)` succeeded after a read had failed,
// - for a nil that is written by a type other than an optional.
//
// The coders detect all but the first case as they run.

/// Adds to each node the type that wrote it, and collects the types that encode themselves.
///
/// The trees are compared and never stored.
final class RoundTripTrace {
    /// The key of the type that wrote a value.
    static let keyOfType = "\0type"
    /// The key of the type of a dictionary's keys, and of whether these are data.
    static let keyOfForm = "\0keys"
    /// The key of the value itself, or of the content of a single value container.
    static let keyOfContent = "\0"

    static func isMark(_ key: String) -> Bool { key == keyOfType || key == keyOfForm }

    struct Note {
        let type: Any.Type
        let form: UInt64
        /// The type that was written in each place of the value.
        let places: [String: ObjectIdentifier]
        /// The path of the value.
        let path: [String]
    }
    private(set) var notes: [Note] = []

    func note(_ note: Note) { notes.append(note) }

    static func mark(_ hash: UInt64) -> PropertyList {
        // Safe: the number has 64 bits.
        .integer(PropertyList.Integer(exactly: hash)!)
    }

    static func mark(_ type: ObjectIdentifier) -> PropertyList { mark(UInt64(UInt(bitPattern: type))) }

    static func node(_ node: PropertyList, of type: Any.Type) -> PropertyList {
        .dictionary([keyOfType: mark(ObjectIdentifier(type)), keyOfContent: node])
    }

    static func layer(around node: PropertyList) -> PropertyList { .dictionary([keyOfContent: node]) }
}
