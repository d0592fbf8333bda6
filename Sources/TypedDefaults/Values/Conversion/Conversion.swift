/// How values of one type are encoded and decoded. All declarations pass a type to a store in this
/// form.
struct Conversion<Value: Sendable>: Sendable {
    let kind: ConversionKind
    // A stored closure with a typed `throws` needs the runtime of iOS 18. On older systems,
    // reflection over its type, which SwiftUI does for each view, crashes.
    /// Returns what to store; `nil` to remove the key.
    let encoding: @Sendable (Value) -> Result<PropertyList?, DefaultsError>
    /// Returns a `Box` of the decoded value, which is what a slot keeps.
    ///
    /// With a `Result` of the value itself, generic code would look up its type at each call.
    let decodeBox: DecodeBox
    /// What an update leaves out of a config; `nil` for other types.
    var defaults: DefaultEntries?
    /// A hash of the texts of the rules; 0 if there are none.
    var rules = 0
    typealias DecodeBox = @Sendable (PropertyList, DecodingMode) -> Result<AnyBox, DefaultsError>

    init(
        kind: ConversionKind, store: @escaping @Sendable (Value) throws(DefaultsError) -> PropertyList?,
        decodeBox: @escaping DecodeBox
    ) {
        self.kind = kind
        encoding = { value in Result { () throws(DefaultsError) in try store(value) } }
        self.decodeBox = decodeBox
    }

    /// Returns what to store. For an optional without a value, this is `nil`, and the key is
    /// removed.
    func encode(_ value: Value) throws(DefaultsError) -> PropertyList? { try encoding(value).get() }

    /// Returns the value of a stored property list.
    func decode(_ stored: PropertyList, _ mode: DecodingMode = .stored) throws(DefaultsError) -> Value {
        try box(stored, mode).value
    }

    func box(_ stored: PropertyList, _ mode: DecodingMode = .stored) throws(DefaultsError) -> Box<Value> {
        // All initializers create boxes of exactly this type.
        try decodeBox(stored, mode).get() as! Box<Value>
    }

    @inline(__always)
    var form: ConversionForm { ConversionForm(type: ObjectIdentifier(Value.self), kind: kind, rules: rules) }

    /// The same conversion for the optional of its type.
    var optional: Conversion<Value?> {
        var optional = Conversion<Value?>(
            kind: kind,
            store: { value throws(DefaultsError) in if let value { try encoding(value).get() } else { nil } },
            decodeBox: { stored, mode in
                do throws(DefaultsError) {
                    if kind == .jsonData, stored.isJSONNull { return .success(Box<Value?>(nil)) }
                    let box = try box(stored, mode)
                    return .success(Box<Value?>(box.value, box.recovery))
                } catch {
                    return .failure(error)
                }
            })
        (optional.defaults, optional.rules) = (defaults, rules)
        return optional
    }
}

/// The purpose of decoding a stored value.
enum DecodingMode {
    case stored
    /// A launch argument, in which numbers and Booleans may be strings.
    case argument
    /// A list of all faults. Entries that the type does not have are recorded.
    case list(FaultList)

    var isArgument: Bool { if case .argument = self { true } else { false } }
    var list: FaultList? { if case .list(let list) = self { list } else { nil } }
}

extension Conversion {
    /// Returns every fault of a stored value.
    func faults(in stored: PropertyList) -> [DefaultsError] {
        let type = unwrapped(Value.self)
        guard !stored.isNested(deeperThan: PropertyList.depthLimit) else {
            return [DefaultsError(.refused, type: "\(type)", reason: PropertyList.tooDeep)]
        }
        let list = FaultList()
        var faults: [DefaultsError]
        switch decodeBox(stored, .list(list)) {
        case .success(let box): faults = box.recovery?.all ?? []
        case .failure(let error): faults = [error]
        }
        // An entry at fault may be of another type.
        var paths = Set(faults.map(\.path))
        for fault in list.faults + list.errors(type: type) where paths.insert(fault.path).inserted {
            faults.append(fault)
        }
        return faults
    }
}

/// A type-erased decoded value.
// Safe: constants only, here and in the subclass. Without a mark, a class that has a subclass
// cannot be `Sendable`.
class AnyBox: @unchecked Sendable {
    /// What the decoder did about parts that it could not read; `nil` for nothing.
    final let recovery: DecodingRecovery?
    fileprivate init(_ recovery: DecodingRecovery?) { self.recovery = recovery }

    /// The value. The caller knows its type: a slot, its conversion and its changes have boxes of
    /// one type only.
    // Safe for that reason. A checked cast takes 361 instructions, more than the rest of a `get`.
    @inline(__always)
    final func value<Value: Sendable>(as type: Value.Type) -> Value { unsafeDowncast(self, to: Box<Value>.self).value }
}

final class Box<Value: Sendable>: AnyBox, @unchecked Sendable {
    let value: Value
    init(_ value: Value, _ recovery: DecodingRecovery? = nil) {
        self.value = value
        super.init(recovery?.isEmpty == false ? recovery : nil)
    }

    /// Returns a function that boxes what `decode` returns and throws.
    static func decoding(
        _ decode: @escaping @Sendable (PropertyList, DecodingMode) throws(DefaultsError) -> Value
    ) -> Conversion<Value>.DecodeBox {
        { stored, mode in
            do throws(DefaultsError) {
                return .success(Box(try decode(stored, mode)))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// How the values of a type are encoded.
///
/// A function in an object, because generic code would look up the type of a ``Conversion``, or
/// wrap a plain function, each time it passes it on. It returns a `Result`: see `Conversion`.
final class ValueEncoding<Value: Sendable>: Sendable {
    private let call: @Sendable (Value) -> Result<PropertyList?, DefaultsError>
    init(_ call: @escaping @Sendable (Value) -> Result<PropertyList?, DefaultsError>) { self.call = call }
    init(throwing encode: @escaping @Sendable (Value) throws(DefaultsError) -> PropertyList?) {
        call = { value in Result { () throws(DefaultsError) in try encode(value) } }
    }

    /// Encodes a value with the object of its type.
    @inline(__always)
    static func encode(_ value: Value, by encoding: AnyObject) throws(DefaultsError) -> PropertyList? {
        // Safe: the caller has made the object. A checked cast takes 385 instructions, 3 % of an
        // equal `set`, and a `set` needs two of them.
        try unsafeDowncast(encoding, to: ValueEncoding<Value>.self).call(value).get()
    }
}

/// How the values of a type are decoded.
final class BoxDecoding: Sendable {
    let call: Conversion<Never>.DecodeBox
    init(_ call: @escaping Conversion<Never>.DecodeBox) { self.call = call }
}

/// The ways to convert a type.
enum ConversionKind {
    case codable, jsonData, rawValue, convertible, propertyList, archive

    /// Returns whether both were encoded from equal values. A type with a hand-written conversion
    /// may use any order.
    func areEqual(_ one: PropertyList?, _ other: PropertyList?) -> Bool {
        if one == other { return true }
        guard self == .convertible, let one, let other else { return false }
        return one.isEqualRegardlessOfOrder(to: other)
    }
}

/// A type and the way in which it is converted.
struct ConversionForm: Hashable {
    let type: ObjectIdentifier
    let kind: ConversionKind
    let rules: Int
}

extension Conversion where Value == PropertyList {
    /// Stores a property list unchanged.
    static var propertyList: Conversion {
        Conversion(
            kind: .propertyList,
            store: { value throws(DefaultsError) in try PropertyList(value) },
            decodeBox: { stored, _ in .success(Box(stored)) })
    }
}
