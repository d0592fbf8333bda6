import SettingsFile

/// Finds out whether a type's `init?(_:)` and `serialize()` are the default ones, and then calls
/// the coder directly.
///
/// The default implementations convert to `Any` like hand-written ones, which takes three times as
/// long and loses the reason for a failure. On the first call, the default implementation, if it is
/// the one that runs, stores a direct encoder or decoder in the task-local probe.
final class DefaultImplementation<Value: DefaultConvertible>: Sendable {
    typealias Encode = @Sendable (Value) throws(DefaultsError) -> PropertyList?

    // Functions in objects, because generic code would wrap a plain function each time it passes it
    // on. They return a `Result`: see `Conversion`.
    final class Encoding: Sendable {
        let call: @Sendable (Value) -> Result<PropertyList?, DefaultsError>
        init(_ encode: @escaping Encode) {
            call = { value in Result { () throws(DefaultsError) in try encode(value) } }
        }
    }
    final class Decoding: Sendable {
        let call: Conversion<Value>.DecodeBox
        init(_ call: @escaping Conversion<Value>.DecodeBox) { self.call = call }
    }

    // Not optionals, because generic code would look up the type of an optional each time.
    private let coders = Locked<(encoding: AnyObject?, decoding: AnyObject?)>((nil, nil))

    func encode(_ value: Value) throws(DefaultsError) -> PropertyList? {
        // Safe, here and below: nothing else is stored there. A checked cast takes at least 22
        // instructions.
        if let encoding = coders.withLock({ $0.encoding }) {
            return try unsafeDowncast(encoding, to: Encoding.self).call(value).get()
        }
        let probe = Probe()
        _ = DefaultImplementations.$current.withValue(probe) { value.serialize() }
        let encoding = probe.coders.withLock { $0.encoding } ?? Encoding(Conversion.encodingByHand)
        coders.withLock { $0.encoding = encoding }
        return try encoding.call(value).get()
    }

    @Sendable
    func decodeBox(
        _ stored: PropertyList, _ mode: DecodingMode
    ) -> Result<AnyBox, DefaultsError> {
        if let decoding = coders.withLock({ $0.decoding }) {
            return unsafeDowncast(decoding, to: Decoding.self).call(stored, mode)
        }
        return findDecoding(stored).call(stored, mode)
    }

    // Not inlined, because the types of its variables would be looked up at each call.
    @inline(never)
    private func findDecoding(_ stored: PropertyList) -> Decoding {
        let probe = Probe()
        _ = DefaultImplementations.$current.withValue(probe) { Value(stored.object) }
        let decoding =
            probe.coders.withLock { $0.decoding }
            ?? Decoding(
                Box<Value>.decoding { stored, _ throws(DefaultsError) in try Conversion.decodingByHand(stored) })
        coders.withLock { $0.decoding = decoding }
        return decoding
    }

    /// The encoder and decoder that the default implementations of this type have stored.
    final class Probe: Sendable {
        let coders = Locked<(encoding: Encoding?, decoding: Decoding?)>((nil, nil))
    }
}

enum DefaultImplementations {
    @TaskLocal static var current: (any AnyObject & Sendable)?
}

extension DefaultConvertible where Self: Codable {
    /// Implements the default `init?(_:)`.
    static func decodingByDefault(_ object: Any) -> Self? {
        let probe = DefaultImplementations.current as? DefaultImplementation<Self>.Probe
        let defaults = configDefaults
        @Sendable func box(
            _ stored: PropertyList, _ mode: DecodingMode
        ) -> Result<AnyBox, DefaultsError> {
            Conversion<Self>.boxedByCodable(stored, mode, fallback: Self.filling, defaults: defaults)
        }
        if let probe {
            probe.coders.withLock { $0.decoding = .init(box) }
            // The caller that set the probe ignores the value.
            return nil
        }
        // A failable initializer cannot return the reason. Stores call the coder, which throws it.
        guard let stored = try? PropertyList(object) else { return nil }
        return ((try? box(stored, .stored).get()) as? Box<Self>)?.value
    }

    /// Implements the default `serialize()`.
    func encodedByDefault() -> Any {
        let probe = DefaultImplementations.current as? DefaultImplementation<Self>.Probe
        let traits = RootTraits(Self.self)
        if let probe {
            probe.coders.withLock { coders in
                coders.encoding = .init { value throws(DefaultsError) in
                    try Conversion<Self>.storedByCodable(value, traits)
                }
            }
            return PropertyList.nilMarker.object
        }
        return PropertyList.objectOrError { () throws(DefaultsError) in
            try Conversion<Self>.encodingByCodable(self)
        }
    }
}

extension PropertyList {
    /// Returns the encoded object, or the error in its place, which `PropertyList.init(_:)` throws.
    static func objectOrError(_ encode: () throws(DefaultsError) -> PropertyList?) -> Any {
        do throws(DefaultsError) { return (try encode() ?? .nilMarker).object } catch { return error }
    }
}
