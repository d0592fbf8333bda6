import SettingsFile

/// Finds out whether a type's `init?(_:)` and `serialize()` are the default ones, and then calls the coder directly.
///
/// The default implementations go through `Any` like hand-written ones, which takes three times as long and loses the reason
/// of a failure. At the first call of each, the default implementation, if it is the one that is reached, leaves the direct
/// way behind in ``current``.
final class DefaultImplementation<Value: DefaultConvertible>: Sendable {
    typealias Encode = @Sendable (Value) throws(DefaultsError) -> PropertyList?
    typealias Decode = @Sendable (PropertyList, Bool) throws(DefaultsError) -> Value

    // Functions behind references, because generic code would wrap a plain function each time it
    // passes it on. They return a `Result`: see `Conversion`.
    final class Encoding: Sendable {
        let isHandWritten: Bool
        /// Whether a value was seen to read back the same. One value proves nothing about a hand-written conversion.
        let isChecked: Bool
        private let result: @Sendable (Value) -> Result<PropertyList?, DefaultsError>
        init(isHandWritten: Bool = false, _ encode: @escaping Encode) {
            self.isHandWritten = isHandWritten
            isChecked = false
            result = { value in Result { () throws(DefaultsError) in try encode(value) } }
        }
        init(checked encoding: Encoding) {
            isHandWritten = encoding.isHandWritten
            isChecked = !isHandWritten
            result = encoding.result
        }
        func call(_ value: Value) throws(DefaultsError) -> PropertyList? { try result(value).get() }
    }
    final class Decoding: Sendable {
        let call: @Sendable (PropertyList, Bool) -> Result<any AnyObject & Sendable, DefaultsError>
        init(_ decode: @escaping Decode) { call = Box.decoding(decode) }
    }

    // As plain objects: generic code looks the type of an optional one up each time.
    // Asked and set only if the lock is free: in a forked child it may not be for ever. To find the answer out again is slow, not wrong.
    private let known = Locked<(encoding: AnyObject?, decoding: AnyObject?)>((nil, nil))

    /// Whether the type has a `serialize()` of its own; false before the first call.
    var isHandWritten: Bool {
        (known.withLockIfFree({ $0.encoding }) ?? nil).map { unsafeDowncast($0, to: Encoding.self).isHandWritten }
            ?? false
    }

    /// Encodes a value, and calls `check` with what it comes to unless that needs no check any more.
    func encode(
        _ value: Value, _ check: Conversion<Value>.Check? = nil
    ) throws(DefaultsError) -> PropertyList? {
        // Safe, here and below: nothing else is put there.
        if let encoding = known.withLockIfFree({ $0.encoding }) ?? nil {
            let encoding = unsafeDowncast(encoding, to: Encoding.self)
            let encoded = try encoding.call(value)
            guard let check, let encoded, !encoding.isChecked else { return encoded }
            try check(encoded).get()
            if !encoding.isHandWritten { known.withLockIfFree { $0.encoding = Encoding(checked: encoding) } }
            return encoded
        }
        let probe = Probe()
        let object = DefaultImplementations.$current.withValue(probe) { value.serialize() }
        let encoding =
            probe.found.withLock { $0.encoding }
            ?? Encoding(isHandWritten: true) { value throws(DefaultsError) in try PropertyList(value.serialize()) }
        known.withLockIfFree { $0.encoding = encoding }
        let encoded = try PropertyList(object)
        try check?(encoded).get()
        return encoded
    }

    @Sendable
    func decodeBox(
        _ stored: PropertyList, _ readsArguments: Bool
    ) -> Result<any AnyObject & Sendable, DefaultsError> {
        if let decoding = known.withLockIfFree({ $0.decoding }) ?? nil {
            return unsafeDowncast(decoding, to: Decoding.self).call(stored, readsArguments)
        }
        let probe = Probe()
        let value = DefaultImplementations.$current.withValue(probe) { Value(stored.object) }
        let direct = probe.found.withLock { $0.decoding }
        let decoding =
            direct ?? Decoding { stored, _ throws(DefaultsError) in try Self.checked(Value(stored.object)) }
        known.withLockIfFree { $0.decoding = decoding }
        if let direct { return direct.call(stored, readsArguments) }
        return Box.decoding { _, _ throws(DefaultsError) in try Self.checked(value) }(stored, readsArguments)
    }

    private static func checked(_ value: Value?) throws(DefaultsError) -> Value {
        guard let value else {
            throw DefaultsError(.unreadable, type: "\(Value.self)", reason: "init(_:) made no value of what is stored")
        }
        return value
    }

    /// What the default implementations of just this type leave behind.
    final class Probe: Sendable {
        let found = Locked<(encoding: Encoding?, decoding: Decoding?)>((nil, nil))
    }
}

enum DefaultImplementations {
    @TaskLocal static var current: (any AnyObject & Sendable)?
}

extension DefaultConvertible where Self: Codable {
    /// What the default `init?(_:)` does.
    static func decodingByDefault(_ object: Any) -> Self? {
        let probe = DefaultImplementations.current as? DefaultImplementation<Self>.Probe
        probe?.found.withLock { found in
            found.decoding = .init { stored, readsArguments throws(DefaultsError) in
                try Conversion<Self>.decodingByCodable(stored, readsArguments, fallback: Self.filling)
            }
        }
        // An initialiser that returns nil has no place for the reason; stores ask the coder, which has.
        return try? Conversion<Self>.decodingByCodable(PropertyList(object), false, fallback: Self.filling)
    }

    /// What the default `serialize()` does.
    func encodedByDefault() -> Any {
        let probe = DefaultImplementations.current as? DefaultImplementation<Self>.Probe
        let traits = RootTraits(Self.self)
        probe?.found.withLock { found in
            found.encoding = .init { value throws(DefaultsError) in
                try Conversion<Self>.encodingByCodable(value, traits)
            }
        }
        return PropertyList.objectOrError { () throws(DefaultsError) in
            try Conversion<Self>.encodingByCodable(self, traits)
        }
    }
}

extension PropertyList {
    /// The encoded object, or the error in its place, which `PropertyList.init(_:)` throws.
    static func objectOrError(_ encode: () throws(DefaultsError) -> PropertyList?) -> Any {
        do throws(DefaultsError) { return (try encode() ?? .nilMarker).object } catch { return error }
    }
}
