/// A condition that the values of a setting meet.
///
/// ```swift
/// nonisolated extension DefaultKey<Int> {
///     static let volume = DefaultKey("volume", default: 5, rule: .clamped(to: 0...10))
///     static let port = DefaultKey("port", default: 8080, rule: .in(1024...65_535))
///     static let columns = DefaultKey("columns", default: 2, rule: DefaultRule("even") { $0.isMultiple(of: 2) })
/// }
/// ```
///
/// A value that breaks the rule is refused with an error of kind ``DefaultsError/Kind/invalid``,
/// and nothing is written. ``clamped(to:)`` stores the nearest valid value instead.
///
/// A stored value can break the rule, because another program or an earlier release wrote it. It
/// then counts as unreadable: reading returns the default, or the clamped value, the failure
/// handler receives one error, and a write that replaces the value first copies it to
/// `<key>.unreadable`. A value of a layer that the rule refuses is reported, and the next layer
/// counts.
///
/// Errors contain the text of the rule, but never the value. The default itself is not checked. See
/// <doc:KeysAndWrappers#Validate-values>.
public struct DefaultRule<Value: Sendable>: Sendable, CustomStringConvertible {
    /// The condition in words, such as “in 0...10”.
    public let description: String
    fileprivate let accepts: @Sendable (Value) -> Bool
    /// Returns the value to store and read in place of another one; `nil` if the rule refuses that.
    private let corrected: (@Sendable (Value) -> Value)?
    /// Returns the value to read in place of a stored one that is refused; `nil` if there is none.
    private let replaced: (@Sendable (Value) -> Value)?

    private init(
        _ description: String, accepts: @escaping @Sendable (Value) -> Bool,
        corrected: (@Sendable (Value) -> Value)? = nil, replaced: (@Sendable (Value) -> Value)? = nil
    ) {
        (self.description, self.accepts) = (description, accepts)
        (self.corrected, self.replaced) = (corrected, replaced)
    }

    /// Creates a rule that refuses all other values.
    ///
    /// - Parameters:
    ///   - description: What a value must be, such as “even”. Two rules for one key with the same
    ///     text are the same rule.
    ///   - accepts: Returns whether a value is valid. The answer must depend on the value alone,
    ///     because a value that was read is not checked again.
    public init(_ description: String, accepts: @escaping @Sendable (Value) -> Bool) {
        self.init(description, accepts: accepts, corrected: nil)
    }

    /// Returns a rule that refuses the values outside a range.
    public static func `in`(_ range: ClosedRange<Value>) -> DefaultRule where Value: Comparable {
        DefaultRule("in \(range)") { range.contains($0) }
    }

    /// Returns a rule that replaces a value outside a range by the nearest one in it.
    ///
    /// So a value need not read back equal. A value that is not comparable, such as a NaN, is
    /// refused.
    public static func clamped(to range: ClosedRange<Value>) -> DefaultRule where Value: Comparable {
        DefaultRule(
            "in \(range)", accepts: { range.contains($0) },
            corrected: { min(max($0, range.lowerBound), range.upperBound) })
    }

    /// Returns a rule that refuses the values that are not in a list.
    public static func oneOf(_ values: [Value]) -> DefaultRule where Value: Equatable {
        DefaultRule("one of \(values.map { "\($0)" }.joined(separator: ", "))") { values.contains($0) }
    }

    /// Returns a rule for one property of a config.
    ///
    /// A stored property that breaks the rule takes its value from the default alone.
    public static func on<Property>(
        _ property: any WritableKeyPath<Value, Property> & Sendable, _ rule: DefaultRule<Property>
    ) -> DefaultRule where Value: DefaultConfig {
        @Sendable func replacing(_ config: Value, with new: Property) -> Value {
            var config = config
            config[keyPath: property] = new
            return config
        }
        var corrected: (@Sendable (Value) -> Value)?
        if let correct = rule.corrected { corrected = { replacing($0, with: correct($0[keyPath: property])) } }
        return DefaultRule(
            rule.description, accepts: { (config: Value) in rule.accepts(config[keyPath: property]) },
            corrected: corrected,
            replaced: { config in replacing(config, with: Value.defaultInstance[keyPath: property]) })
    }
}

extension DefaultRule {
    /// The text of the rule, and whether it corrects.
    fileprivate var identity: String { corrected == nil ? description : "\(description), clamped" }

    /// Returns the value to store.
    ///
    /// - Parameter form: Returns the stored form of a value.
    fileprivate func stored(
        _ value: Value, _ form: (Value) -> PropertyList?
    ) throws(DefaultsError) -> Value {
        if accepts(value) { return value }
        if let value = corrected?(value), accepts(value) { return value }
        throw error(.invalid, value, replaced?(value), form)
    }

    /// Returns the value to read, and the error to report if it differs from the stored one.
    ///
    /// - Parameters:
    ///   - kind: The kind of the error.
    ///   - replaces: Whether the default takes the place of a property that is refused.
    fileprivate func read(
        _ value: Value, _ kind: DefaultsError.Kind, replaces: Bool, _ form: (Value) -> PropertyList?
    ) throws(DefaultsError) -> (value: Value, error: DefaultsError?) {
        if accepts(value) { return (value, nil) }
        if let new = corrected?(value), accepts(new) { return (new, error(kind, value, new, form)) }
        let new = replaced?(value)
        let error = error(kind, value, new, form)
        guard replaces, let new else { throw error }
        return (new, error)
    }

    fileprivate func error(
        _ kind: DefaultsError.Kind, _ value: Value, _ other: Value?, _ form: (Value) -> PropertyList?
    ) -> DefaultsError {
        // The innermost part in which both differ.
        var (path, one, another) = ([String](), form(value), other.flatMap(form))
        while case .dictionary(let entries)? = one, case .dictionary(let others)? = another {
            let keys = Set(entries.keys).union(others.keys).filter { entries[$0] != others[$0] }
            guard keys.count == 1, let key = keys.first else { break }
            path.append(key)
            (one, another) = (entries[key], others[key])
        }
        return DefaultsError(kind, type: "\(Value.self)", path: path, reason: "the value must be \(description)")
    }
}

extension Conversion {
    /// The same conversion, for values that meet rules.
    func following(_ rules: [DefaultRule<Value>]) -> Conversion {
        guard !rules.isEmpty else { return self }
        let checks = RuleChecks(rules: rules, conversion: self)
        var conversion = Conversion(
            kind: kind, store: { value throws(DefaultsError) in try encoding(checks.stored(value)).get() },
            decodeBox: { stored, mode in
                do throws(DefaultsError) {
                    return .success(try checks.read(box(stored, mode), of: stored, mode))
                } catch {
                    return .failure(error)
                }
            })
        conversion.defaults = defaults
        conversion.rules = rules.reduce(self.rules) { hash, rule in [hash, rule.identity.hashValue].hashValue }
        return conversion
    }
}

/// The rules of a setting, and the conversion to which they are added.
private struct RuleChecks<Value: Sendable>: Sendable {
    let rules: [DefaultRule<Value>]
    let conversion: Conversion<Value>

    /// Returns the value to store.
    func stored(_ value: Value) throws(DefaultsError) -> Value {
        var value = value
        for rule in rules { value = try rule.stored(value, form) }
        if rules.count > 1 { try checkAll(value, .invalid) }
        return value
    }

    /// Returns a box of the value to read.
    func read(
        _ box: Box<Value>, of stored: PropertyList, _ mode: DecodingMode
    ) throws(DefaultsError) -> Box<Value> {
        let kind = mode.list == nil ? DefaultsError.Kind.unreadable : .invalid
        var (value, errors, isReplaced) = (box.value, [DefaultsError](), false)
        // A list needs the other faults as well.
        mode.list?.faults += box.recovery?.all ?? []
        for rule in rules {
            do throws(DefaultsError) {
                let read = try rule.read(value, kind, replaces: !mode.isArgument, form)
                value = read.value
                guard let error = read.error else { continue }
                isReplaced = true
                if !comesFromDefault(error.path, of: box.value, stored) { errors.append(error) }
            } catch {
                guard let list = mode.list else { throw error }
                list.faults.append(error)
            }
        }
        mode.list?.faults += errors
        guard isReplaced else { return box }
        // The default of the type may break the rule of a key.
        try checkAll(value, kind)
        var recovery = box.recovery ?? DecodingRecovery()
        for error in errors { recovery.add(error) }
        return Box(value, recovery)
    }

    /// Throws if a value breaks a rule. The correction of one rule may break another one.
    private func checkAll(_ value: Value, _ kind: DefaultsError.Kind) throws(DefaultsError) {
        if let broken = rules.first(where: { !$0.accepts(value) }) { throw broken.error(kind, value, nil, form) }
    }

    private func form(_ value: Value) -> PropertyList? {
        let form = try? conversion.encode(value)
        if case .data(let data)? = form { return ForeignData(data)?.tree ?? form }
        return form
    }

    /// Returns whether a property is not stored, under any key that the type reads.
    private func comesFromDefault(_ path: [String], of value: Value, _ stored: PropertyList) -> Bool {
        guard case .dictionary = stored, stored.entry(at: path[...]) == nil else { return false }
        guard let own = (Value.self as? any DefaultConfig.Type)?.defaults.tree else { return true }
        return form(value)?.entry(at: path[...]) == own.entry(at: path[...])
    }
}
