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
            store: { value throws(DefaultsError) in try storedByCodable(value, traits) },
            decodeBox: { stored, mode in boxedByCodable(stored, mode, fallback: fallback) })
    }

    private static func ofConvertible<Other: DefaultConvertible>(_ type: Other.Type) -> Any {
        Conversion<Other>.convertible
    }

    private static func ofOptionalConvertible<Other: DefaultConvertible>(_ type: Other.Type) -> Any {
        Conversion<Other>.convertible.optional
    }

    static func encodingByCodable(
        _ value: Value, _ traits: RootTraits = RootTraits(Value.self)
    ) throws(DefaultsError) -> PropertyList? { try storedByCodable(value, traits, isTree: true)?.tree }

    static func storedByCodable(
        _ value: Value, _ traits: RootTraits, isTree: Bool = false
    ) throws(DefaultsError) -> StoredValue? {
        do {
            let (stored, needsCheck) = try StoredValue.encoding(value, traits, isTree: isTree)
            if needsCheck, let stored { try checkRoundTrip(of: value, stored.tree) }
            return stored
        } catch {
            throw DefaultsError(encoding: Value.self, error)
        }
    }

    /// Encodes the value for a comparison.
    static func tracedByCodable(_ value: Value, _ trace: RoundTripTrace = RoundTripTrace()) throws -> PropertyList? {
        try StoredValue.encoding(value, RootTraits(Value.self), trace: trace).value?.tree
    }

    private static func checkRoundTrip(of value: Value, _ node: PropertyList) throws(DefaultsError) {
        let reads = ReadPlaces()
        try RoundTrip(
            value: value, written: node,
            read: { stored in try decodingByCodable(.tree(stored), fallback: nil, noting: stored == node ? reads : nil)
            },
            write: { try StoredValue.encoding($0, RootTraits(Value.self)).value?.tree },
            trace: { try tracedByCodable($0) },
            ignores: { path, _ in !reads.contains(path) },
            reason: "the value changed in a round trip; check that init(from:) reads what encode(to:) writes"
        ).check()
        let trace = RoundTripTrace()
        let tree = try? tracedByCodable(value, trace)
        CheckedTypes.insert(trace.notes, unread: tree.flatMap { $0 }.map { reads.unread(in: $0) } ?? [])
    }

    /// Decodes a value, replaces it if some parts cannot be read, and puts it into a `Box`.
    ///
    /// - Parameters:
    ///   - fallback: The value that supplies parts; `nil` if there is none.
    ///   - isTolerant: Whether the value is replaced, and not only missing properties filled in.
    static func boxedByCodable(
        _ stored: StoredValue, _ mode: DecodingMode, fallback: @autoclosure () -> Value?, isTolerant: Bool = true
    ) -> Result<any AnyObject & Sendable, DefaultsError> {
        let unknown = mode == .recording ? UnknownEntries() : nil
        do throws(DefaultsError) {
            let value = try decodingByCodable(stored, mode, fallback: fallback(), unknown: unknown)
            guard let unknown else { return .success(Box(value)) }
            return .success(Box.make(value, recovery(of: stored.tree, value, unknown)))
        } catch {
            guard mode != .argument,
                let box = try? recoveredByCodable(stored.tree, unknown, fallback: fallback(), isTolerant: isTolerant)
            else {
                return .failure(error)
            }
            return .success(box)
        }
    }

    /// Returns the entries of a value, also of JSON or a property list in data, that the type does
    /// not know.
    ///
    /// - Parameters:
    ///   - unknown: What was noted when the value was decoded.
    ///   - encodingInData: Returns the tree of the data that would be stored; `nil` if the value is
    ///     stored in the native form from now on.
    static func recovery(
        of stored: PropertyList, _ value: Value, _ unknown: UnknownEntries,
        encodingInData: (Value) -> PropertyList? = { _ in nil }
    ) -> DecodingRecovery {
        var recovery = DecodingRecovery()
        var tree = stored
        if case .data(let data) = stored {
            guard let embedded = try? EmbeddedData(data).tree else { return recovery }
            tree = embedded
            unknown.removeAll()
            let root = StoredValueDecoder.Root(isStrict: false, unknown: unknown, readsFoundation: true)
            guard (try? root.decode(Value.self, from: .tree(tree))) != nil else { return recovery }
        }
        recovery.entries = unknown.entries(in: tree)
        let arrays = unknown.arrays(in: tree)
        if !arrays.isEmpty {
            let encoded = tree != stored ? encodingInData(value) : try? encodingByCodable(value)
            recovery.add(arrays: arrays, in: tree, encoded: encoded)
        }
        return recovery
    }

    private static func recoveredByCodable(
        _ stored: PropertyList, _ unknown: UnknownEntries?, fallback: Value?, isTolerant: Bool
    ) throws -> Box<Value>? {
        // A default of `nil` has no parts that could replace an unreadable one.
        guard let fallback, let defaultTree = try? encodingByCodable(fallback) else { return nil }
        var tree = stored
        if case .data(let data) = stored {
            guard let embedded = try EmbeddedData(data).tree else { return nil }
            tree = embedded
        }
        var (value, recovery) = try decodingWithFaults(
            Value.self, from: tree, isFoundation: tree != stored, default: defaultTree, isTolerant: isTolerant,
            unknown: unknown)
        if let unknown {
            recovery.entries += unknown.entries(in: tree)
            let arrays = unknown.arrays(in: tree)
            if !arrays.isEmpty, tree == stored {
                recovery.add(arrays: arrays, in: tree, encoded: try? encodingByCodable(value))
            }
        }
        return Box.make(value, recovery)
    }

    /// - Parameter reads: Collects the places that the value is made from.
    static func decodingByCodable(
        _ stored: StoredValue, _ mode: DecodingMode = .stored, fallback: @autoclosure () -> Value?,
        noting reads: ReadPlaces? = nil, unknown: UnknownEntries? = nil
    ) throws(DefaultsError) -> Value {
        let strict = StoredValueDecoder.Root(readsArguments: mode == .argument, reads: reads, unknown: unknown)
        do {
            // The first attempt uses no closures: in generic code, they would cost more than the
            // decoding.
            return try strict.decode(Value.self, from: stored)
        } catch {
            return try decodingAgain(
                stored.tree, strict, mode, fallback: fallback(), noting: reads, unknown: unknown, after: error)
        }
    }

    /// Decodes a value that could not be decoded strictly. Not inlined, because the types of its
    /// variables would be looked up before the first attempt.
    @inline(never)
    private static func decodingAgain(
        _ stored: PropertyList, _ strict: StoredValueDecoder.Root, _ mode: DecodingMode,
        fallback: @autoclosure () -> Value?, noting reads: ReadPlaces?, unknown: UnknownEntries?, after error: any Error
    ) throws(DefaultsError) -> Value {
        /// Takes properties that are missing from the default, one in each round.
        func decode(_ root: StoredValueDecoder.Root) throws -> Value {
            var tree = stored
            while true {
                do {
                    unknown?.removeAll()
                    return try root.decode(Value.self, from: .tree(tree))
                } catch DecodingError.keyNotFound(let key, let context) {
                    let path = (context.codingPath.map(\.stringValue) + [key.stringValue])[...]
                    guard let value = fallback(), let entry = try? encodingByCodable(value)?[path],
                        tree.put(entry, at: path, insteadOf: nil)
                    else { throw DecodingError.keyNotFound(key, context) }
                }
            }
        }
        if case DecodingError.keyNotFound = error, let value = try? decode(strict) { return value }
        // Other accepted forms count only if the type's own form is not found; see `Root.isStrict`.
        let root = StoredValueDecoder.Root(
            readsArguments: mode == .argument, isStrict: false, reads: reads, unknown: unknown)
        do {
            do {
                return try decode(root)
            } catch {
                // A value whose own form is data is never read as JSON or a property list.
                guard case .data(let data) = stored, !root.isData,
                    let value = try EmbeddedData(data).decode(Value.self)
                else { throw error }
                return value
            }
        } catch {
            throw DefaultsError(decoding: Value.self, error)
        }
    }
}
