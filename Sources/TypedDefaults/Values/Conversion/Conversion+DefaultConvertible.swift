import SettingsFile

extension Conversion where Value: DefaultConvertible {
    /// Converts by the type's own `init?(_:)` and `serialize()`.
    static var convertible: Conversion {
        let implementation = DefaultImplementation<Value>()
        return Conversion(
            kind: .convertible, store: { value throws(DefaultsError) in try implementation.encode(value) },
            decodeBox: implementation.decodeBox)
    }

    /// Encodes a value by a `serialize()` that is written by hand.
    ///
    /// The round trip of such a type is checked for each shape that it writes, because it may lose
    /// only some kinds of values. The check ends once each entry of the shape was read.
    @Sendable
    static func encodingByHand(_ value: Value) throws(DefaultsError) -> StoredValue? {
        let written = try PropertyList(value.serialize())
        let (type, shape) = (ObjectIdentifier(Value.self), written.shape)
        guard !checkedShapes.withLock({ $0[type]?.contains(shape) ?? false }) else { return .tree(written) }
        func ignores(_ path: [String], _ copy: PropertyList?) -> Bool {
            guard let rest = written.removing(path[...]), let value = Value(rest.object),
                let tree = try? PropertyList(value.serialize())
            else { return false }
            return tree.content(at: path[...]) == copy
        }
        try RoundTrip(
            value: value, written: written, read: decodingByHand, write: { try PropertyList($0.serialize()) },
            trace: { try PropertyList($0.serialize()) }, readDirectly: { Value(value.serialize()) }, ignores: ignores,
            reason: "the value changed in a round trip; check that init(_:) accepts what serialize() returns "
                + "(numbers arrive as Int or Double)"
        ).check()
        let known = checkedShapes.withLock { $0[type]?.readPlaces } ?? []
        let places = CheckedShapes.places(in: written)
        // It is unknown whether an entry is read while its value is the one that the type uses for
        // a missing entry.
        let read = Set(
            places.lazy.filter { !known.contains($0.names) && !ignores($0.path, written.content(at: $0.path[...])) }
                .map(\.names))
        let isComplete = places.allSatisfy { known.contains($0.names) || read.contains($0.names) }
        checkedShapes.withLock { $0[type, default: CheckedShapes()].insert(isComplete ? shape : nil, read) }
        return .tree(written)
    }

    /// Decodes a value by an `init?(_:)` that is written by hand.
    static func decodingByHand(_ stored: PropertyList) throws(DefaultsError) -> Value {
        guard let value = Value(stored.object) else {
            throw DefaultsError(
                .unreadable, type: "\(Value.self)", reason: "init(_:) returned nil for the stored value")
        }
        return value
    }
}

/// The shapes that a type with a hand-written conversion has read back.
private struct CheckedShapes {
    /// A type whose shape depends on its data must not fill the memory.
    private static let limit = 64

    private var shapes: Set<Int> = []
    /// The entries that are known to be read.
    private(set) var readPlaces: Set<[String]> = []

    func contains(_ shape: Int) -> Bool { shapes.contains(shape) }

    mutating func insert(_ shape: Int?, _ places: Set<[String]>) {
        if readPlaces.count + places.count > Self.limit { readPlaces = [] }
        readPlaces.formUnion(places)
        guard let shape else { return }
        if shapes.count == Self.limit { shapes = [] }
        shapes.insert(shape)
    }

    /// Returns the entries of all dictionaries, with their names without the indices of array
    /// elements; none if there are so many that their keys must be data.
    static func places(in tree: PropertyList) -> [(path: [String], names: [String])] {
        var places: [(path: [String], names: [String])] = []
        collect(tree, [], [], &places)
        return places.count > limit ? [] : places
    }

    private static func collect(
        _ tree: PropertyList, _ path: [String], _ names: [String], _ places: inout [(path: [String], names: [String])]
    ) {
        switch tree {
        case .array(let elements):
            for (index, element) in elements.enumerated() where places.count <= limit {
                collect(element, path + ["\(index)"], names, &places)
            }
        case .dictionary(let entries):
            for (key, entry) in entries where places.count <= limit {
                places.append((path + [key], names + [key]))
                collect(entry, path + [key], names + [key], &places)
            }
        default: break
        }
    }
}

private let checkedShapes = Forks.holding(Locked<[ObjectIdentifier: CheckedShapes]>([:]))
