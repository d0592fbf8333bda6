import SettingsFile

extension Conversion where Value: DefaultConvertible {
    /// Converts by the type's own `init?(_:)` and `serialize()`.
    static var convertible: Conversion {
        let implementation = DefaultImplementation<Value>()
        return Conversion(
            kind: .convertible, encode: { value throws(DefaultsError) in try implementation.encode(value) },
            decodeBox: implementation.decodeBox)
    }

    /// Encodes a value by a `serialize()` that is written by hand.
    ///
    /// The round trip of such a type is checked once for each shape that it writes, because it may
    /// lose a number only where there is one.
    @Sendable
    static func encodingByHand(_ value: Value) throws(DefaultsError) -> PropertyList? {
        let written = try PropertyList(value.serialize())
        let (type, shape) = (ObjectIdentifier(Value.self), written.shape)
        guard !checkedShapes.withLock({ $0[type]?.contains(shape) ?? false }) else { return written }
        try RoundTrip(
            value: value, written: written, read: decodingByHand, write: { try PropertyList($0.serialize()) },
            trace: { try PropertyList($0.serialize()) }, readDirectly: { Value(value.serialize()) },
            ignores: { path, copy in
                guard let rest = written.removing(path[...]), let value = Value(rest.object),
                    let tree = try? PropertyList(value.serialize())
                else { return false }
                return tree.content(at: path[...]) == copy
            },
            reason: "the value changed in a round trip; check that init(_:) accepts what serialize() returns "
                + "(numbers arrive as Int or Double)"
        ).check()
        checkedShapes.withLock { shapes in
            // A type whose shape depends on its data must not fill the memory.
            if shapes[type, default: []].count == 64 { shapes[type] = [] }
            shapes[type, default: []].insert(shape)
        }
        return written
    }

    /// Decodes a value by an `init?(_:)` that is written by hand.
    static func decodingByHand(_ stored: PropertyList) throws(DefaultsError) -> Value {
        guard let value = Value(stored.object) else {
            throw DefaultsError(.unreadable, type: "\(Value.self)", reason: "init(_:) made no value of what is stored")
        }
        return value
    }
}

/// The shapes that types with a hand-written conversion have read back.
private let checkedShapes = Forks.holding(Locked<[ObjectIdentifier: Set<Int>]>([:]))
