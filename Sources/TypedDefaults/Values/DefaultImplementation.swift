import SettingsFile

/// Finds out whether a type's `init?(_:)` and `serialize()` are the default ones, and then calls
/// the coder directly.
///
/// The default implementations convert to `Any` like hand-written ones, which takes three times as
/// long and loses the reason for a failure. On the first call, the default implementation, if it is
/// the one that runs, stores a direct encoder or decoder in the task-local probe.
final class DefaultImplementation<Value: DefaultConvertible>: Sendable {
    // Not of type `ValueEncoding<Value>?`, because generic code would look up that type each time.
    private let coders = Locked<(encoding: AnyObject?, decoding: BoxDecoding?)>((nil, nil))

    func encode(_ value: Value) throws(DefaultsError) -> PropertyList? {
        if let encoding = coders.withLock({ $0.encoding }) {
            return try ValueEncoding.encode(value, by: encoding)
        }
        let probe = Probe()
        _ = DefaultImplementations.$current.withValue(probe) { value.serialize() }
        let encoding = probe.coders.withLock { $0.encoding } ?? ValueEncoding(throwing: Conversion.encodingByHand)
        coders.withLock { $0.encoding = encoding }
        return try ValueEncoding.encode(value, by: encoding)
    }

    @Sendable
    func decodeBox(
        _ stored: PropertyList, _ mode: DecodingMode
    ) -> Result<AnyBox, DefaultsError> {
        if let decoding = coders.withLock({ $0.decoding }) { return decoding.call(stored, mode) }
        return findDecoding(stored).call(stored, mode)
    }

    // Not inlined, because the types of its variables would be looked up at each call.
    @inline(never)
    private func findDecoding(_ stored: PropertyList) -> BoxDecoding {
        let probe = Probe()
        _ = DefaultImplementations.$current.withValue(probe) { Value(stored.object) }
        let decoding =
            probe.coders.withLock { $0.decoding }
            ?? BoxDecoding(
                Box<Value>.decoding { stored, _ throws(DefaultsError) in try Conversion.decodingByHand(stored) })
        coders.withLock { $0.decoding = decoding }
        return decoding
    }

    /// The encoder and decoder that the default implementations of this type have stored.
    final class Probe: Sendable {
        let coders = Locked<(encoding: ValueEncoding<Value>?, decoding: BoxDecoding?)>((nil, nil))
    }
}

enum DefaultImplementations {
    @TaskLocal static var current: (any AnyObject & Sendable)?
}

extension DefaultConvertible where Self: Codable {
    /// Implements the default `init?(_:)`.
    static func decodingByDefault(_ object: Any) -> Self? {
        let probe = DefaultImplementations.current as? DefaultImplementation<Self>.Probe
        let defaults = configDefaults.map { LazyDefault($0) }
        @Sendable func box(
            _ stored: PropertyList, _ mode: DecodingMode
        ) -> Result<AnyBox, DefaultsError> {
            Conversion<Self>.boxedByCodable(stored, mode, defaults)
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
                coders.encoding = .init(throwing: { value throws(DefaultsError) in
                    try Conversion<Self>.storedByCodable(value, traits)
                })
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
