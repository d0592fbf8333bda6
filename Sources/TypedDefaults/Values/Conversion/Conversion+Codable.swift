extension Conversion where Value: Codable {
    static var codable: Conversion { codable(fallback: nil) }

    /// Converts by `Codable`, or as the type itself does if it or its wrapped type is
    /// ``DefaultConvertible``.
    ///
    /// - Parameter fallback: The value that supplies properties which are missing in a stored
    ///   value.
    static func codable(fallback: Value?) -> Conversion {
        if let type = Value.self as? any DefaultConvertible.Type {
            return ofConvertible(type) as! Conversion  // Safe: `type` is `Value`.
        }
        let traits = RootTraits(Value.self)
        let optional = traits.isOptional ? Value.self as? any AnyOptional.Type : nil
        if let type = optional?.wrappedType as? any DefaultConvertible.Type {
            // Safe: `Value` is the optional of `type`.
            return ofOptionalConvertible(type) as! Conversion
        }
        return Conversion(
            kind: .codable,
            encode: { value throws(DefaultsError) in try encodingByCodable(value, traits) },
            decode: { stored, readsArguments throws(DefaultsError) in
                try decodingByCodable(stored, readsArguments, fallback: fallback)
            })
    }

    private static func ofConvertible<Other: DefaultConvertible>(_ type: Other.Type) -> Any {
        Conversion<Other>.convertible
    }

    private static func ofOptionalConvertible<Other: DefaultConvertible>(_ type: Other.Type) -> Any {
        Conversion<Other>.convertible.optional
    }

    static func encodingByCodable(
        _ value: Value, _ traits: RootTraits = RootTraits(Value.self)
    ) throws(DefaultsError) -> PropertyList? {
        do {
            let (node, needsCheck) = try PropertyList.encoding(value, traits)
            if needsCheck, let node { try checkRoundTrip(of: value, node) }
            return node
        } catch {
            throw DefaultsError(encoding: Value.self, error)
        }
    }

    /// Encodes the value for a comparison.
    static func tracedByCodable(_ value: Value, _ trace: RoundTripTrace = RoundTripTrace()) throws -> PropertyList? {
        try PropertyList.encoding(value, RootTraits(Value.self), trace: trace).node
    }

    private static func checkRoundTrip(of value: Value, _ node: PropertyList) throws(DefaultsError) {
        let reads = ReadPlaces()
        try RoundTrip(
            value: value, written: node,
            read: { stored in try decodingByCodable(stored, false, fallback: nil, noting: stored == node ? reads : nil)
            },
            write: { try PropertyList.encoding($0, RootTraits(Value.self)).node },
            trace: { try tracedByCodable($0) },
            ignores: { path, _ in !reads.contains(path) },
            reason: "the value changed in a round trip; check that init(from:) reads what encode(to:) writes"
        ).check()
        let trace = RoundTripTrace()
        let tree = try? tracedByCodable(value, trace)
        CheckedTypes.insert(trace.notes, unread: tree.flatMap { $0 }.map { reads.unread(in: $0) } ?? [])
    }

    /// - Parameter reads: Collects the places that the value is made from.
    static func decodingByCodable(
        _ stored: PropertyList, _ readsArguments: Bool, fallback: @autoclosure () -> Value?,
        noting reads: ReadPlaces? = nil
    ) throws(DefaultsError) -> Value {
        func decode(_ root: PropertyListTreeDecoder.Root) throws -> Value {
            try decodeFilling(stored) { stored in
                try root.decode(Value.self, from: stored)
            } fill: { stored, path in
                guard let value = fallback(), let other = try? encodingByCodable(value) else { return nil }
                return stored.filled(path, from: other)
            }
        }
        let strict = PropertyListTreeDecoder.Root(readsArguments: readsArguments, reads: reads)
        do {
            // The first try has no closures: in generic code they would cost more than the
            // decoding.
            return try strict.decode(Value.self, from: stored)
        } catch {
            if case DecodingError.keyNotFound = error, let value = try? decode(strict) { return value }
        }
        // Other accepted forms count only if the type's own form is not found; see `Root.isStrict`.
        let root = PropertyListTreeDecoder.Root(readsArguments: readsArguments, isStrict: false, reads: reads)
        do {
            do {
                return try decode(root)
            } catch {
                // A value whose own form is data is never read as JSON or a property list.
                guard case .data(let data) = stored, !root.isData,
                    let value = try EmbeddedData(data).decode(Value.self, fallback: fallback)
                else { throw error }
                return value
            }
        } catch {
            throw DefaultsError(decoding: Value.self, error)
        }
    }
}
