import SettingsFile

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

/// A hash of how a type encodes itself: the types of its containers and, in order, of its values.
struct EncodedForm {
    /// Marks a place where values of several types are written.
    static let severalTypes = ObjectIdentifier(EncodedForm.self)

    private(set) var containers: UInt64 = 0
    private(set) var firstContainer: ObjectIdentifier?
    private var values: UInt64 = 0
    /// The address of the type of all values so far; 0 without values, 1 for several types.
    private var onlyType: UInt = 0

    mutating func addContainer(_ type: Any.Type) {
        if firstContainer == nil { firstContainer = ObjectIdentifier(type) }
        Self.mix(UInt64(UInt(bitPattern: ObjectIdentifier(type))), into: &containers)
    }

    mutating func addNested(_ hash: UInt64) { Self.mix(hash, into: &values) }

    /// Adds the type of a value.
    ///
    /// Values that all have one type count once, so that an array has one form whatever its length.
    ///
    /// - Parameter count: Returns the number of values before this one.
    @inline(__always)
    mutating func addValue(_ type: Any.Type, before count: () -> Int) {
        let type = UInt(bitPattern: ObjectIdentifier(type))
        if type == onlyType { return }
        if onlyType == 0 {
            onlyType = type
            return
        }
        if onlyType != 1 {
            Self.mix(UInt64(onlyType), into: &values)
            Self.mix(UInt64(count()), into: &values)
            onlyType = 1
        }
        Self.mix(UInt64(type), into: &values)
    }

    var hash: UInt64 {
        var hash = values
        Self.mix(UInt64(onlyType), into: &hash)
        Self.mix(containers, into: &hash)
        return hash
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = ((hash << 23 | hash >> 41) ^ word) &* 0x9E37_79B9_7F4A_7C15
    }
}

/// The types that read back what they encode, and the forms in which they do.
enum CheckedTypes {
    /// A class, so that a lookup copies nothing.
    private final class Forms {
        /// The form that was checked first, which a lookup compares before the others.
        let first: UInt64
        var others: Set<UInt64> = []
        private var places: [String: ObjectIdentifier] = [:]
        /// Whether each value has to be checked, because its reading depends on the value.
        var isAmbiguous = false

        init(first: UInt64) { self.first = first }

        func add(_ note: RoundTripTrace.Note) {
            guard !isAmbiguous else { return }
            if note.form != first {
                if others.count == limit { others = [] }
                others.insert(note.form)
            }
            // The number of places depends on the data only in an unkeyed container.
            for (place, type) in note.places where places.count < limit || places[place] != nil {
                let known = places.updateValue(type, forKey: place) ?? type
                if known != type || type == EncodedForm.severalTypes { isAmbiguous = true }
            }
        }
    }

    private static let types = Forks.holding(Locked<[ObjectIdentifier: Forms]>([:]))
    /// The limit on forms, because a type whose form depends on its data must not fill the memory.
    private static let limit = 64

    static func contains(_ type: Any.Type, _ form: UInt64) -> Bool {
        types.withLock { types in
            guard let forms = types[ObjectIdentifier(type)], !forms.isAmbiguous else { return false }
            return forms.first == form || forms.others.contains(form)
        }
    }

    /// Adds the types of a value that may be stored.
    static func insert(_ notes: [RoundTripTrace.Note]) {
        types.withLock { types in
            for note in notes {
                forms(of: note.type, first: note.form, in: &types).add(note)
            }
        }
    }

    /// Notes a type that has tried to read another type first.
    static func noteAmbiguity(of type: Any.Type) {
        types.withLock { types in
            forms(of: type, first: 0, in: &types).isAmbiguous = true
        }
    }

    private static func forms(of type: Any.Type, first: UInt64, in types: inout [ObjectIdentifier: Forms]) -> Forms {
        if let forms = types[ObjectIdentifier(type)] { return forms }
        let forms = Forms(first: first)
        types[ObjectIdentifier(type)] = forms
        return forms
    }
}
