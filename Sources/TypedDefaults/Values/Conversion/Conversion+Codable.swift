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
        try storedByCodable(value, RootTraits(Value.self))
    }

    static func storedByCodable(_ value: Value, _ traits: RootTraits) throws(DefaultsError) -> PropertyList? {
        do { return try PropertyList.encoding(value, traits) } catch {
            throw DefaultsError(encoding: Value.self, error)
        }
    }

    /// Decodes a value, replaces it if some parts cannot be read, and puts it into a `Box`.
    ///
    /// - Parameters:
    ///   - fallback: The value that supplies parts; `nil` if there is none.
    ///   - defaults: The same by entries, for a ``DefaultConfig``.
    static func boxedByCodable(
        _ stored: PropertyList, _ mode: DecodingMode, fallback: @autoclosure () -> Value?,
        defaults: ConfigDefaults? = nil
    ) -> Result<AnyBox, DefaultsError> {
        do {
            // The first attempt uses no closures: in generic code, they would cost more than the
            // decoding.
            var rules = DecodingRules(readsArguments: mode.isArgument)
            if let defaults {
                rules.supplied = defaults.supplied
                rules.checksEntries = !defaults.hasEntry(of: stored)
            }
            if let list = mode.list {
                listFaults(of: stored, in: list, fallback: fallback)
                rules.isList = true
            }
            var isUnread = false
            let box = Box(try TreeDecoder.decode(Value.self, from: stored, rules, nil, &isUnread))
            return .success(isUnread ? unreadBox(box) : box)
        } catch {
            return boxed(after: error, stored, mode, fallback: fallback, defaults)
        }
    }

    @inline(never)
    private static func unreadBox(_ box: Box<Value>) -> Box<Value> { Box(box.value, .unread(by: Value.self)) }

    /// Records the entries that no type reads.
    @inline(never)
    static func listFaults(of stored: PropertyList, in list: FaultList, fallback: () -> Value?) {
        let foreign: ForeignData? = if case .data(let data) = stored { ForeignData(data) } else { nil }
        let rules = DecodingRules(leniency: .parts([]), isForeign: foreign != nil, faults: list)
        let defaultTree = fallback().flatMap { try? encodingByCodable($0) }
        // Parts at fault are replaced on the way.
        var repair = Repair<Value>(foreign?.tree ?? stored, rules, default: defaultTree, .all)
        _ = try? repair.decode()
        list.translate(repair.keptIndices)
        list.faults += repair.recovery.all
    }

    // Not inlined, because the types of its variables would be looked up before the first attempt.
    @inline(never)
    private static func boxed(
        after error: any Error, _ stored: PropertyList, _ mode: DecodingMode, fallback: () -> Value?,
        _ defaults: ConfigDefaults?
    ) -> Result<AnyBox, DefaultsError> {
        if let defaults, defaults.supplies(error) {
            return boxedByCodable(stored, mode, fallback: fallback(), defaults: defaults)
        }
        let isMissing = if case DecodingError.keyNotFound = error { true } else { false }
        do {
            return .success(try boxedAgain(stored, mode, fallback: fallback, isMissing: isMissing))
        } catch {
            if let value = valueOfRawValue(stored, mode) { return .success(Box(value)) }
            var failure = DefaultsError(decoding: Value.self, error)
            // The default of an optional has no parts.
            let isWithoutParts = fallback().map { ($0 as? any AnyOptional)?.isNil == true } ?? true
            if isWithoutParts {
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
        _ stored: PropertyList, _ mode: DecodingMode, fallback: () -> Value?, isMissing: Bool
    ) throws -> Box<Value> {
        // A default of `nil` has no parts.
        let defaultTree = fallback().flatMap { try? encodingByCodable($0) }
        var log = DecodingLog()
        func attempt(
            _ tree: PropertyList, _ leniency: DecodingRules.Leniency, _ mending: Mending, isForeign: Bool = false
        ) throws -> Box<Value> {
            var rules = DecodingRules(leniency: leniency, readsArguments: mode.isArgument, isForeign: isForeign)
            rules.isList = mode.list != nil
            var repair = Repair<Value>(
                tree, rules,
                default: defaultTree, defaultTree == nil ? .none : mending)
            defer { log = repair.log }
            let value = try repair.decode()
            return Box(value, repair.isUnread && repair.recovery.isEmpty ? .unread(by: Value.self) : repair.recovery)
        }
        if isMissing, let box = try? attempt(stored, .none, .missing) { return box }
        let isReplacing = !mode.isArgument && defaultTree != nil
        do { return try attempt(stored, .all, .missing) } catch {
            // A value whose own form is data is never read as JSON or a property list.
            if case .data(let data) = stored, !log.readsData, let foreign = ForeignData(data) {
                do { return Box(try foreign.decode(Value.self)) } catch {
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

    /// Decodes a raw value, as which a type was stored before it became `Codable`.
    private static func valueOfRawValue(_ stored: PropertyList, _ mode: DecodingMode) -> Value? {
        func decoded<Raw: Decodable>(_ type: Raw.Type) -> Raw? {
            try? TreeDecoder.decode(type, from: stored, DecodingRules(readsArguments: mode.isArgument))
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
