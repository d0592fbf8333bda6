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
        // A raw value is stored unchanged.
        // Safe: the types were compared.
        if Value.self == PropertyList.self { return Conversion<PropertyList>.propertyList as! Conversion }
        if Value.self == PropertyList?.self { return Conversion<PropertyList>.propertyList.optional as! Conversion }
        let traits = RootTraits(Value.self)
        let optional = traits.isOptional ? Value.self as? any AnyOptional.Type : nil
        if let type = optional?.wrappedType as? any DefaultConvertible.Type {
            // Safe: `Value` is the optional of `type`.
            return ofOptionalConvertible(type) as! Conversion
        }
        let defaults = traits.isNative ? nil : fallback.map { LazyDefault($0) }
        return Conversion(
            kind: .codable,
            store: { value throws(DefaultsError) in try storedByCodable(value, traits) },
            decodeBox: { stored, mode in boxedByCodable(traits.node(stored), mode, defaults) })
    }

    private static func ofConvertible<Other: DefaultConvertible>(_ type: Other.Type) -> Any {
        Conversion<Other>.convertible
    }

    private static func ofOptionalConvertible<Other: DefaultConvertible>(_ type: Other.Type) -> Any {
        Conversion<Other>.convertible.optional
    }

    static func encodingByCodable(_ value: Value) throws(DefaultsError) -> PropertyList? {
        try storedByCodable(value, RootTraits(Value.self))
    }

    static func storedByCodable(_ value: Value, _ traits: RootTraits) throws(DefaultsError) -> PropertyList? {
        do { return try PropertyList.encoding(value, traits) } catch {
            throw DefaultsError(encoding: Value.self, error)
        }
    }

    /// Decodes a value, replaces it if some parts cannot be read, and puts it into a `Box`.
    ///
    /// - Parameter defaults: What supplies missing parts; `nil` if there is no default.
    static func boxedByCodable(
        _ found: PropertyList, _ mode: DecodingMode, _ defaults: LazyDefault?
    ) -> Result<AnyBox, DefaultsError> {
        do {
            // The first attempt uses no closures: in generic code, they would cost more than the
            // decoding.
            var (stored, rules) = (found, DecodingRules(readsArguments: mode.isArgument))
            if case .dictionary = found, let defaults = defaults?.entries {
                (stored, rules.defaultPaths) = defaults.filling(found)
                rules.supplied = defaults.supplied(to: found)
                rules.hasKnownEntry = !rules.supplied.isEmpty || defaults.hasEntry(of: found)
            }
            if let list = mode.list {
                listFaults(of: found, in: list, defaults)
                rules.isGiven = true
            }
            let attempt = DecodingAttempt(rules)
            let box = Box(try attempt.decode(Value.self, from: stored))
            return .success(attempt.isUnread ? unreadBox(box) : box)
        } catch {
            return boxed(after: error, found, mode, defaults)
        }
    }

    @inline(never)
    private static func unreadBox(_ box: Box<Value>) -> Box<Value> { Box(box.value, .unread(by: Value.self)) }

    /// Records the entries that no type reads.
    @inline(never)
    static func listFaults(of stored: PropertyList, in list: FaultList, _ defaults: LazyDefault?) {
        let foreign: ForeignData? = if case .data(let data) = stored { ForeignData(data) } else { nil }
        let rules = DecodingRules(leniency: .parts([]), isForeign: foreign != nil, faults: list)
        // Parts at fault are replaced on the way.
        var repair = Repair<Value>(foreign?.tree ?? stored, rules, default: defaults?.entries?.tree, .all)
        _ = try? repair.decode()
        list.translate(repair.keptIndices)
        list.faults += repair.recovery.all
    }

    // Not inlined, because the types of its variables would be looked up before the first attempt.
    @inline(never)
    private static func boxed(
        after error: any Error, _ stored: PropertyList, _ mode: DecodingMode, _ defaults: LazyDefault?
    ) -> Result<AnyBox, DefaultsError> {
        if defaults?.entries?.supplies(error) == true { return boxedByCodable(stored, mode, defaults) }
        let isMissing =
            switch error {
            // A nil that an optional has stored counts as missing.
            case DecodingError.keyNotFound, DecodingError.valueNotFound: true
            default: false
            }
        do {
            return .success(try boxedAgain(stored, mode, defaults?.entries, isMissing: isMissing))
        } catch {
            if let value = valueOfRawValue(Value.self is any AnyOptional.Type ? stored.unescapedFromNil : stored, mode)
            {
                return .success(Box(value))
            }
            var failure = DefaultsError(decoding: Value.self, error)
            // A default of `nil` has no parts.
            if defaults?.entries?.tree == nil {
                failure.reason += DefaultsError.remedy(error, of: failure.path.isEmpty ? unwrapped(Value.self) : nil)
            }
            return .failure(failure)
        }
    }

    /// Decodes a value that could not be decoded as it is: with missing properties from the
    /// default, then from other accepted forms, then as JSON or a property list in data, and
    /// finally with parts replaced.
    ///
    /// - Parameter isMissing: Whether the first attempt has failed because a property is missing.
    private static func boxedAgain(
        _ found: PropertyList, _ mode: DecodingMode, _ defaults: DefaultEntries?, isMissing: Bool
    ) throws -> Box<Value> {
        let defaultTree = defaults?.tree
        var readsData = false
        func attempt(
            _ found: PropertyList, _ leniency: DecodingRules.Leniency, _ mending: Mending, isForeign: Bool = false
        ) throws -> Box<Value> {
            let (tree, filled) = defaults?.filling(found) ?? (found, [])
            var rules = DecodingRules(leniency: leniency, readsArguments: mode.isArgument, isForeign: isForeign)
            rules.isGiven = mode.list != nil
            rules.defaultPaths = filled
            var repair = Repair<Value>(
                tree, rules,
                default: defaultTree, defaultTree == nil ? .none : mending)
            defer { readsData = repair.last.readsData }
            let value = try repair.decode()
            return Box(value, repair.isUnread && repair.recovery.isEmpty ? .unread(by: Value.self) : repair.recovery)
        }
        if isMissing, let box = try? attempt(found, .none, .missing) { return box }
        let isReplacing = !mode.isArgument && defaultTree != nil
        do { return try attempt(found, .all, .missing) } catch {
            // A value whose own form is data is never read as JSON or a property list.
            if case .data(let data) = found, !readsData, let foreign = ForeignData(data) {
                let isComplete = defaults?.filling(foreign.tree).paths.isEmpty != false
                do {
                    if isComplete { return Box(try foreign.decode(Value.self)) }
                    return try attempt(foreign.tree, .none, .none, isForeign: true)
                } catch {
                    guard defaultTree != nil else { throw error }
                    let mending = isReplacing ? Mending.all : .missing
                    guard let box = try? attempt(foreign.tree, .parts([]), mending, isForeign: true) else {
                        throw error
                    }
                    return box
                }
            }
            guard isReplacing, let box = try? attempt(found, .parts([]), .all) else { throw error }
            return box
        }
    }

    /// Decodes a raw value, as which a type was stored before it became `Codable`.
    private static func valueOfRawValue(_ stored: PropertyList, _ mode: DecodingMode) -> Value? {
        func decoded<Raw: Decodable>(_ type: Raw.Type) -> Raw? {
            try? DecodingAttempt(DecodingRules(readsArguments: mode.isArgument)).decode(type, from: stored)
        }
        func value<Whole: RawRepresentable>(_ type: Whole.Type) -> Value? {
            guard let type = Whole.RawValue.self as? any Decodable.Type, let raw = decoded(type) as? Whole.RawValue,
                let whole = Whole(rawValue: raw)
            else { return nil }
            return whole as? Value
        }
        return (unwrapped(Value.self) as? any RawRepresentable.Type).flatMap { value($0) }
    }
}
