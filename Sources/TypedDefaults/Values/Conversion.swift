import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How values of one type are written and read: the one form in which all declarations hand a type to a store.
struct Conversion<Value: Sendable>: Sendable {
    let kind: ConversionKind
    // A stored closure with a typed `throws` needs the runtime of iOS 18: reflection over its type,
    // which SwiftUI does with each view, jumps to address 0 before.
    /// Encodes a value. A conversion of kind ``ConversionKind/convertible`` calls the check, if there is one and it is needed.
    let encoding: @Sendable (Value, _ check: Check?) -> Result<PropertyList?, DefaultsError>
    typealias Check = @Sendable (PropertyList) -> Result<Void, DefaultsError>
    /// Returns a `Box` of the decoded value, which is what a slot keeps.
    ///
    /// A `Result` of the value itself would have generic code look up its type at each call.
    let decodeBox: @Sendable (PropertyList, _ readsArguments: Bool) -> Result<any AnyObject & Sendable, DefaultsError>

    /// Whether the type converts itself, so that each shape of what it writes has to be checked.
    let isHandWritten: @Sendable () -> Bool

    init(
        kind: ConversionKind, encode: @escaping @Sendable (Value) throws(DefaultsError) -> PropertyList?,
        decode: @escaping @Sendable (PropertyList, Bool) throws(DefaultsError) -> Value
    ) {
        self.init(
            kind: kind, encoding: { value, _ in Result { () throws(DefaultsError) in try encode(value) } },
            decodeBox: Box.decoding(decode), isHandWritten: { false })
    }

    fileprivate init(
        kind: ConversionKind,
        encoding: @escaping @Sendable (Value, Check?) -> Result<PropertyList?, DefaultsError>,
        decodeBox: @escaping @Sendable (PropertyList, Bool) -> Result<any AnyObject & Sendable, DefaultsError>,
        isHandWritten: @escaping @Sendable () -> Bool
    ) {
        self.kind = kind
        self.encoding = encoding
        self.isHandWritten = isHandWritten
        self.decodeBox = decodeBox
    }

    /// Returns what to store, or `nil` for an optional that holds nothing: the key is then removed.
    func encode(_ value: Value) throws(DefaultsError) -> PropertyList? { try encoding(value, nil).get() }

    /// Returns the value of a stored property list.
    ///
    /// - Parameter readsArguments: Whether numbers and Booleans may be strings, as in launch arguments.
    func decode(_ stored: PropertyList, _ readsArguments: Bool) throws(DefaultsError) -> Value {
        // Safe: all initializers make boxes of just this type.
        unsafeDowncast(try decodeBox(stored, readsArguments).get(), to: Box<Value>.self).value
    }

    var form: ConversionForm { ConversionForm(type: ObjectIdentifier(Value.self), kind: kind) }

    /// The same conversion for the optional of its type.
    var optional: Conversion<Value?> {
        Conversion<Value?>(
            kind: kind,
            encoding: { value, check in if let value { encoding(value, check) } else { .success(nil) } },
            decodeBox: Box<Value?>.decoding { stored, readsArguments throws(DefaultsError) in
                try decode(stored, readsArguments)
            },
            isHandWritten: isHandWritten)
    }
}

/// A decoded value in a form that code which does not know its type can pass on.
final class Box<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }

    /// Returns a function that boxes what `decode` returns and throws.
    static func decoding(
        _ decode: @escaping @Sendable (PropertyList, Bool) throws(DefaultsError) -> Value
    ) -> @Sendable (PropertyList, Bool) -> Result<any AnyObject & Sendable, DefaultsError> {
        { stored, readsArguments in
            do throws(DefaultsError) {
                return .success(Box(try decode(stored, readsArguments)))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// Distinguishes the ways in which one type may be converted.
enum ConversionKind {
    case codable, jsonData, rawValue, convertible, propertyList

    /// Whether both were written of equal values. What a type writes by hand may be in any order.
    func areEqual(_ one: PropertyList?, _ other: PropertyList?) -> Bool {
        self == .convertible ? one?.hashRegardlessOfOrder == other?.hashRegardlessOfOrder : one == other
    }
}

/// A type and the way in which it is converted.
struct ConversionForm: Hashable {
    let type: ObjectIdentifier
    let kind: ConversionKind
}

extension Conversion where Value: Codable {
    static var codable: Conversion { codable(fallback: nil) }

    /// By `Codable`, unless the type, or the type that the optional holds, is ``DefaultConvertible`` and has its own say.
    ///
    /// - Parameter fallback: What properties are read as that are missing in what is stored.
    static func codable(fallback: Value?) -> Conversion {
        if let type = Value.self as? any DefaultConvertible.Type {
            return ofConvertible(type) as! Conversion  // Safe: `type` is `Value`.
        }
        let optional = Value.self as? any AnyOptional.Type
        if let type = optional?.wrappedType as? any DefaultConvertible.Type {
            return ofOptionalConvertible(type) as! Conversion  // Safe: `type` is what `Value` is the optional of.
        }
        let traits = RootTraits(Value.self, isOptional: optional != nil)
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
    fileprivate static func tracedByCodable(_ value: Value) throws(DefaultsError) -> PropertyList? {
        do {
            return try PropertyList.encoding(value, RootTraits(Value.self), trace: RoundTripTrace()).node
        } catch {
            throw DefaultsError(encoding: Value.self, error)
        }
    }

    /// Throws unless the value that is read from the node is the same; see `RoundTripTrace`.
    private static func checkRoundTrip(of value: Value, _ node: PropertyList) throws {
        let copy: Value
        do {
            copy = try decodingByCodable(node, false, fallback: nil)
        } catch {
            throw DefaultsError(
                .refused, type: error.type, path: error.path,
                reason: "the type does not read what it writes: \(error.reason)")
        }
        let trace = RoundTripTrace()
        let written = try PropertyList.encoding(value, RootTraits(Value.self), trace: trace).node
        let read = try tracedByCodable(copy)
        let isSame = isSame(written, read) {
            guard let copy = try? decodingByCodable(node, false, fallback: nil) else { return nil }
            return (copy, try? tracedByCodable(copy))
        }
        guard isSame else {
            let path = if let written, let read { written.firstDifference(from: read) } else { [String]() }
            throw DefaultsError(
                .refused, type: "\(Value.self)", path: path,
                reason: "the value changed in a round trip; check that init(from:) reads what encode(to:) writes")
        }
        CheckedTypes.insert(trace.notes)
    }

    static func decodingByCodable(
        _ stored: PropertyList, _ readsArguments: Bool, fallback: @autoclosure () -> Value?
    ) throws(DefaultsError) -> Value {
        func decode(_ root: PropertyListTreeDecoder.Root) throws -> Value {
            try decodeFilling(stored) { stored in
                try root.decode(Value.self, from: stored)
            } fill: { stored, path in
                guard let value = fallback(), let other = try? encodingByCodable(value) else { return nil }
                return stored.filled(path, from: other)
            }
        }
        let strict = PropertyListTreeDecoder.Root(readsArguments: readsArguments)
        do {
            // Mostly nothing is missing, and generic closures would cost more than the decoding.
            return try strict.decode(Value.self, from: stored)
        } catch {
            if case DecodingError.keyNotFound = error, let value = try? decode(strict) { return value }
        }
        // Forms of other programs are read only where the type's own is not found; see `Root.isStrict`.
        let root = PropertyListTreeDecoder.Root(readsArguments: readsArguments, isStrict: false)
        do {
            do {
                return try decode(root)
            } catch {
                // What is itself data is never taken for something else.
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

extension Conversion where Value: Codable {
    /// By `Codable`, as JSON in data, which is what many programs put into `UserDefaults`.
    static func jsonData(fallback: Value?) -> Conversion {
        Conversion(
            kind: .jsonData,
            encode: { value throws(DefaultsError) in
                guard let traced = try tracedByCodable(value) else { return nil }
                let encoder = JSONEncoder()
                // The same value gives the same bytes.
                encoder.outputFormatting = .sortedKeys
                let data: Data
                do { data = try encoder.encode(value) } catch { throw DefaultsError(encoding: Value.self, error) }
                // Each time, since it depends on the value what JSON can hold.
                let again = try? EmbeddedData(data).decode(Value.self)
                let read = try again.flatMap(tracedByCodable)
                let isSame = isSame(traced, read) {
                    guard let copy = try? EmbeddedData(data).decode(Value.self) else { return nil }
                    return (copy, try? tracedByCodable(copy))
                }
                guard isSame else {
                    throw .refused(path: [], type: Value.self, "JSON does not give the same value back")
                }
                return .data(data)
            },
            decode: { stored, readsArguments throws(DefaultsError) in
                if case .data(let data) = stored,
                    let value = try? EmbeddedData(data).decode(Value.self, fallback: { fallback })
                {
                    return value
                }
                return try decodingByCodable(stored, readsArguments, fallback: fallback)
            })
    }
}

extension Conversion where Value: RawRepresentable, Value.RawValue: Codable & Sendable {
    static var rawValue: Conversion {
        let raw = Conversion<Value.RawValue>.codable
        return Conversion(
            kind: .rawValue,
            encode: { value throws(DefaultsError) in
                guard let stored = try raw.encode(value.rawValue) else {
                    throw .refused(path: [], type: Value.self, "a raw value that is nil would not read back")
                }
                return stored
            },
            decode: { stored, readsArguments throws(DefaultsError) in
                guard let value = Value(rawValue: try raw.decode(stored, readsArguments)) else {
                    throw DefaultsError(
                        .unreadable, type: "\(Value.self)",
                        reason: "no value of the type has the raw value that is stored")
                }
                return value
            })
    }
}

extension Conversion where Value: DefaultConvertible {
    /// By the type's own `init?(_:)` and `serialize()`.
    static var convertible: Conversion {
        let shortcut = DefaultImplementation<Value>()
        return Conversion(
            kind: .convertible,
            encoding: { value, check in
                Result { () throws(DefaultsError) in try shortcut.encode(value, check) }
            },
            decodeBox: shortcut.decodeBox, isHandWritten: { shortcut.isHandWritten })
    }
}

extension Conversion where Value == PropertyList {
    /// None: the stored value itself.
    static var propertyList: Conversion {
        Conversion(
            kind: .propertyList,
            encode: { value throws(DefaultsError) in try PropertyList(value) },
            decode: { stored, _ throws(DefaultsError) in stored })
    }
}

/// The types, by conversion, that were seen to read what they write, with the shapes of what they wrote.
private let trustworthyTypes = Forks.holding(Locked<[ConversionForm: Set<Int>]>([:]))

extension Conversion {
    /// Throws unless the type reads back what it wrote.
    ///
    /// A type is checked once in a process, and one that converts itself once for each shape of what
    /// it writes: it may forget a number only where there is one.
    ///
    /// Not called for a value of a type that was checked before and does not convert itself.
    func checkOnce(_ written: PropertyList) throws(DefaultsError) {
        // JSON is checked each time that it is made, and equal sets may be different bytes in it.
        if kind == .jsonData { return }
        let shape = isHandWritten() ? written.shape : 0
        guard !trustworthyTypes.withLock({ $0[form]?.contains(shape) ?? false }) else { return }
        try checkRoundTrip(written)
        trustworthyTypes.withLock { types in
            // A type whose shape follows its data is not allowed to fill the memory.
            if types[form, default: []].count == 64 { types[form] = [] }
            types[form, default: []].insert(shape)
        }
    }

    /// Throws unless the type reads back what it wrote.
    ///
    /// Compares what the copy writes, because a value need not be `Equatable`.
    func checkRoundTrip(_ written: PropertyList) throws(DefaultsError) {
        let again: PropertyList?
        do {
            again = try encode(try decode(written, false))
        } catch {
            var error = error
            error.reason = "the type does not read what it writes: \(error.reason)"
            throw DefaultsError(.refused, type: "\(Value.self)", path: error.path, reason: error.reason)
        }
        let isSame = Self.isSame(written, again) {
            guard let copy = try? decode(written, false) else { return nil }
            return (copy, try? encode(copy))
        }
        guard !isSame else { return }
        throw DefaultsError(
            .refused, type: "\(Value.self)", path: again.map(written.firstDifference) ?? [],
            reason:
                "the type does not read back the same value that it writes (a number in an Any is an Int or a Double)")
    }
}

extension Conversion {
    /// Whether a value and its copy were written the same, arrays in the same order.
    ///
    /// A type may write a set as an array, in the order that the set has in memory. Copies made from
    /// the same node then differ in their order as well, and it counts for nothing. The copies that a
    /// type makes which reverses or sorts an array all have one order.
    ///
    /// - Parameter makeCopy: Returns one more copy and what it writes; `nil` if it cannot be made.
    fileprivate static func isSame(
        _ written: PropertyList?, _ read: PropertyList?, makeCopy: () -> (value: Value, written: PropertyList?)?
    ) -> Bool {
        if written == read { return true }
        guard written?.hashRegardlessOfOrder == read?.hashRegardlessOfOrder else { return false }
        // Two elements come in the same order every other time. The copies are kept because a set
        // at the address of another one has its order.
        var copies: [Value] = []
        return (0..<24).contains { _ in
            guard let copy = makeCopy() else { return false }
            copies.append(copy.value)
            return copy.written != read
        }
    }
}

extension PropertyList {
    // Stands for the value itself, so all that tells two values apart goes in: the kind, the bytes, who is in which array.
    var hashRegardlessOfOrder: Int {
        var hasher = Hasher()
        hasher.combine(kindName)
        switch self {
        case .string(let string): hasher.combine(Array(string.utf8))
        case .array(let elements):
            hasher.combine(elements.count)
            hasher.combine(elements.reduce(0) { $0 &+ $1.hashRegardlessOfOrder })
        case .dictionary(let entries):
            hasher.combine(entries.count)
            hasher.combine(
                entries.reduce(0) {
                    $0 &+ PropertyList.array([.string($1.key), .array([$1.value])]).hashRegardlessOfOrder
                })
        default: hasher.combine(self)
        }
        return hasher.finalize()
    }

    /// A hash of the kinds of its parts; the kinds of an array's elements count once.
    fileprivate var shape: Int {
        var hasher = Hasher()
        hasher.combine(kindName)
        switch self {
        case .array(let elements): hasher.combine(Set(elements.map(\.shape)))
        case .dictionary(let entries): hasher.combine(entries.mapValues(\.shape))
        default: break
        }
        return hasher.finalize()
    }

    fileprivate func firstDifference(from other: PropertyList) -> [String] {
        guard case .dictionary(let mine) = self, case .dictionary(let others) = other else { return [] }
        let form = mine[RoundTripTrace.keyOfForm]
        guard form == others[RoundTripTrace.keyOfForm] else { return [] }
        let isData = if case .array(let form) = form { form.last == true } else { false }
        for (key, value) in mine where others[key] != value {
            return [isData ? "*" : key] + (others[key].map(value.firstDifference) ?? [])
        }
        return []
    }
}

// Errors of `Codable` quote stored values in their text, so only their type and path are taken over. What this library's own
// coder has to say comes as their underlying error.
extension DefaultsError {
    init(encoding type: Any.Type, _ error: any Error) {
        if case EncodingError.invalidValue(_, let context) = error {
            let reason = (context.underlyingError as? DefaultsError)?.reason ?? "the value cannot be encoded"
            self.init(.refused, type: "\(type)", path: context.codingPath.map(\.nameInErrors), reason: reason)
        } else if let error = error as? DefaultsError {
            self = error
        } else {
            self.init(.refused, type: "\(type)", reason: "encode(to:) threw \(Swift.type(of: error))")
        }
    }

    init(decoding type: Any.Type, _ error: any Error) {
        guard let error = error as? DecodingError else {
            self.init(.unreadable, type: "\(type)", reason: "init(from:) threw \(Swift.type(of: error))")
            return
        }
        let (context, reason) =
            switch error {
            case .typeMismatch(_, let context): (context, "something else than the declared type is stored")
            case .valueNotFound(_, let context): (context, "nothing is stored here")
            case .keyNotFound(let key, let context): (context, "“\(key.nameInErrors)” is missing")
            case .dataCorrupted(let context): (context, "what is stored is not a value of the type")
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "it cannot be decoded")
            }
        self.init(
            .unreadable, type: "\(type)", path: context.codingPath.map(\.nameInErrors),
            reason: (context.underlyingError as? DefaultsError)?.reason ?? reason)
    }
}

extension CodingKey {
    /// Whether the key is data, as those of a dictionary are, and not the name of a property.
    ///
    /// Names are the cases of an enum. A key of another type may hold any text, even if its type
    /// checks the text, and so may an enum that takes any string.
    var isData: Bool {
        if self is SuperKey || self is IndexKey { return false }
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle != .enum || !mirror.children.isEmpty || Self(stringValue: "\0") != nil
    }

    /// The key as it appears in an error: `*` where it is data.
    var nameInErrors: String {
        // Foundation's decoders use one type for the places in arrays and other keys.
        if let intValue, stringValue == "Index \(intValue)" { return "\(intValue)" }
        return isData ? "*" : stringValue
    }
}
