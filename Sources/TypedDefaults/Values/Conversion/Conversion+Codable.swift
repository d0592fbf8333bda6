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

    static func encodingByCodable(_ value: Value) throws(DefaultsError) -> PropertyList? {
        try storedByCodable(value, RootTraits(Value.self))?.tree
    }

    static func storedByCodable(_ value: Value, _ traits: RootTraits) throws(DefaultsError) -> StoredValue? {
        do { return try StoredValue.encoding(value, traits) } catch {
            throw DefaultsError(encoding: Value.self, error)
        }
    }

    /// Decodes a value, replaces it if some parts cannot be read, and puts it into a `Box`.
    ///
    /// - Parameters:
    ///   - fallback: The value that supplies parts; `nil` if there is none.
    ///   - defaults: The same by entries, for a ``DefaultConfig``.
    static func boxedByCodable(
        _ stored: StoredValue, _ mode: DecodingMode, fallback: @autoclosure () -> Value?,
        defaults: ConfigDefaults? = nil
    ) -> Result<any AnyObject & Sendable, DefaultsError> {
        let log = mode == .recording ? DecodingLog() : nil
        do {
            // The first attempt uses no closures: in generic code, they would cost more than the
            // decoding.
            var rules = DecodingRules(readsArguments: mode == .argument)
            if let defaults { rules.supplied = defaults.required }
            let value = try StoredValueDecoder.decode(Value.self, from: stored, rules, log)
            guard let log else { return .success(Box(value)) }
            return .success(box(value, log, of: stored.tree))
        } catch {
            if let defaults, defaults.supplies(error) {
                return boxedByCodable(stored, mode, fallback: fallback(), defaults: defaults)
            }
            let isMissing = if case DecodingError.keyNotFound = error { true } else { false }
            do {
                return .success(try boxedAgain(stored.tree, mode, fallback: fallback, isMissing: isMissing))
            } catch {
                return .failure(DefaultsError(decoding: Value.self, error))
            }
        }
    }

    /// Decodes a value that could not be decoded as it is: with missing properties from the
    /// default, then from other accepted forms, then as JSON or a property list in data, and
    /// finally with parts replaced. Not inlined, because the types of its variables would be looked
    /// up before the first attempt.
    ///
    /// - Parameter isMissing: Whether the first attempt has failed because a property is missing.
    @inline(never)
    private static func boxedAgain(
        _ stored: PropertyList, _ mode: DecodingMode, fallback: () -> Value?, isMissing: Bool
    ) throws -> Box<Value> {
        // A default of `nil` has no parts.
        let defaultTree = fallback().flatMap { try? encodingByCodable($0) }
        var log = DecodingLog()
        func attempt(
            _ tree: PropertyList, _ leniency: DecodingRules.Leniency, _ mending: Mending, isForeign: Bool = false
        ) throws -> Box<Value> {
            var repair = Repair<Value>(
                tree, DecodingRules(leniency: leniency, readsArguments: mode == .argument, isForeign: isForeign),
                default: defaultTree, defaultTree == nil ? .none : mending)
            defer { log = repair.log }
            let value = try repair.decode()
            guard mode == .recording else { return Box(value, repair.recovery) }
            if isForeign { return Box(value, repair.recovery.ofForeignData(repair.log)) }
            return box(value, repair.log, repair.recovery, of: tree)
        }
        if isMissing, let box = try? attempt(stored, .none, .missing) { return box }
        let isReplacing = mode != .argument && defaultTree != nil
        do { return try attempt(stored, .all, .missing) } catch {
            // A value whose own form is data is never read as JSON or a property list.
            if case .data(let data) = stored, !log.readsData, let foreign = ForeignData(data) {
                do { return try decoding(foreign, mode) } catch {
                    guard defaultTree != nil else { throw error }
                    let mending = isReplacing ? Mending.all : .missing
                    guard let box = try? attempt(foreign.tree, .parts([]), mending, isForeign: true) else {
                        throw error
                    }
                    return box
                }
            }
            guard isReplacing, let box = try? attempt(stored, .parts([]), .all) else { throw error }
            return box
        }
    }

    /// Decodes JSON or a property list in data. Entries that the type does not read cannot be kept,
    /// because the value is written as a whole.
    static func decoding(_ foreign: ForeignData, _ mode: DecodingMode) throws -> Box<Value> {
        let value = try foreign.decode(Value.self)
        guard mode == .recording else { return Box(value) }
        // Foundation's decoders do not say what a type reads.
        let (rules, log) = (DecodingRules(leniency: .all, isForeign: true), DecodingLog())
        let isKnown = (try? StoredValueDecoder.decode(Value.self, from: .tree(foreign.tree), rules, log)) != nil
        return Box(value, isKnown ? DecodingRecovery().ofForeignData(log) : DecodingRecovery(losesParts: true))
    }

    /// Returns a box that says which entries no type has read.
    private static func box(
        _ value: Value, _ log: DecodingLog, _ recovery: DecodingRecovery = DecodingRecovery(), of tree: PropertyList
    ) -> Box<Value> {
        var recovery = recovery
        log.addUnknownEntries(of: tree, to: &recovery) { try? encodingByCodable(value) }
        return Box(value, recovery)
    }
}
