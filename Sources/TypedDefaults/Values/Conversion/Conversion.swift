/// How values of one type are encoded and decoded. All declarations pass a type to a store in this
/// form.
struct Conversion<Value: Sendable>: Sendable {
    let kind: ConversionKind
    // A stored closure with a typed `throws` needs the runtime of iOS 18: reflection over its type,
    // which SwiftUI does with each view, jumps to address 0 before.
    /// Encodes a value. Fails if reading it back would lose data; see ``RoundTrip``.
    let encoding: @Sendable (Value) -> Result<PropertyList?, DefaultsError>
    /// Returns a `Box` of the decoded value, which is what a slot keeps.
    ///
    /// A `Result` of the value itself would have generic code look up its type at each call.
    let decodeBox: @Sendable (PropertyList, _ readsArguments: Bool) -> Result<any AnyObject & Sendable, DefaultsError>

    init(
        kind: ConversionKind, encode: @escaping @Sendable (Value) throws(DefaultsError) -> PropertyList?,
        decode: @escaping @Sendable (PropertyList, Bool) throws(DefaultsError) -> Value
    ) {
        self.init(kind: kind, encode: encode, decodeBox: Box.decoding(decode))
    }

    init(
        kind: ConversionKind, encode: @escaping @Sendable (Value) throws(DefaultsError) -> PropertyList?,
        decodeBox: @escaping @Sendable (PropertyList, Bool) -> Result<any AnyObject & Sendable, DefaultsError>
    ) {
        self.kind = kind
        encoding = { value in Result { () throws(DefaultsError) in try encode(value) } }
        self.decodeBox = decodeBox
    }

    /// Returns what to store; `nil` for an optional that holds nothing: the key is then removed.
    func encode(_ value: Value) throws(DefaultsError) -> PropertyList? { try encoding(value).get() }

    /// Returns the value of a stored property list.
    ///
    /// - Parameter readsArguments: Whether numbers and Booleans may be strings, as in launch
    ///   arguments.
    func decode(_ stored: PropertyList, _ readsArguments: Bool) throws(DefaultsError) -> Value {
        // Safe: all initializers make boxes of just this type.
        unsafeDowncast(try decodeBox(stored, readsArguments).get(), to: Box<Value>.self).value
    }

    @inline(__always)
    var form: ConversionForm { ConversionForm(type: ObjectIdentifier(Value.self), kind: kind) }

    /// The same conversion for the optional of its type.
    var optional: Conversion<Value?> {
        Conversion<Value?>(
            kind: kind,
            encode: { value throws(DefaultsError) in if let value { try encode(value) } else { nil } },
            decode: { stored, readsArguments throws(DefaultsError) in try decode(stored, readsArguments) })
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

/// The ways in which one type may be converted.
enum ConversionKind {
    case codable, jsonData, rawValue, convertible, propertyList

    /// Returns whether both were written from equal values. A type that encodes itself by hand may
    /// use any order.
    func areEqual(_ one: PropertyList?, _ other: PropertyList?) -> Bool {
        self == .convertible ? one?.bytesRegardlessOfOrder == other?.bytesRegardlessOfOrder : one == other
    }
}

/// A type and the way in which it is converted.
struct ConversionForm: Hashable {
    let type: ObjectIdentifier
    let kind: ConversionKind
}

extension Conversion where Value == PropertyList {
    /// Stores a property list as it is.
    static var propertyList: Conversion {
        Conversion(
            kind: .propertyList,
            encode: { value throws(DefaultsError) in try PropertyList(value) },
            decode: { stored, _ throws(DefaultsError) in stored })
    }
}
