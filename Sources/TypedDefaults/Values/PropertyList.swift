import SettingsFile

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A value of the types that `UserDefaults` and property list files can hold.
///
/// Two property lists are equal if they are stored as the same bits. Doubles and dates compare by
/// bit pattern (`-0.0` differs from `0.0`, a NaN equals itself), strings and dictionary keys by
/// their UTF-8 bytes (the two forms of "é" differ), and a Boolean never equals a number.
///
/// ```swift
/// let stored: PropertyList = ["savesToCameraRoll": true, "size": "large"]
/// ```
///
/// ## Topics
///
/// ### Values
///
/// - ``bool(_:)``
/// - ``integer(_:)``
/// - ``double(_:)``
/// - ``string(_:)``
/// - ``data(_:)``
/// - ``date(_:)``
/// - ``array(_:)``
/// - ``dictionary(_:)``
///
/// ### Codable values
///
/// - ``init(encoding:userInfo:)``
/// - ``decode(_:userInfo:)``
///
/// ### Objects and JSON
///
/// - ``init(_:)``
/// - ``object``
/// - ``init(json:)``
/// - ``json(isPretty:)``
public enum PropertyList: Sendable {
    /// A Boolean, which never equals a number.
    case bool(Bool)
    /// An integer, regardless of the width and sign of its type.
    case integer(Int64)
    /// An integer above `Int64.max`. A smaller one equals the same ``integer(_:)``.
    case unsigned(UInt64)
    /// A double, exact to the bit.
    case double(Double)
    /// A string, exact to the byte.
    case string(String)
    /// Data.
    case data(Data)
    /// A date, exact to the bit of its seconds.
    case date(Date)
    /// An array of values of any kind.
    case array([PropertyList])
    /// A dictionary of values of any kind.
    case dictionary([String: PropertyList])

    /// The maximum depth of nested arrays and dictionaries that can be converted, encoded, decoded
    /// or stored.
    ///
    /// All of these recurse. The limit turns a stack overflow into an error.
    package static let depthLimit = 64

    /// The maximum number of values inside one another that the coder follows.
    ///
    /// It is larger than the depth limit, because a value that is written in the form of another
    /// one, such as an enum of JSON values, adds a call but no level.
    static let recursionLimit = 3 * depthLimit
    static let tooDeep = "nested deeper than \(depthLimit) levels"
    static let tooRecursive = "more than \(recursionLimit) values, one inside another"
}

extension PropertyList: Hashable {
    /// Returns whether both are stored as the same bits.
    public static func == (lhs: PropertyList, rhs: PropertyList) -> Bool {
        switch (lhs, rhs) {
        case (.bool(let lhs), .bool(let rhs)): lhs == rhs
        case (.integer(let lhs), .integer(let rhs)): lhs == rhs
        case (.unsigned(let lhs), .unsigned(let rhs)): lhs == rhs
        case (.integer(let integer), .unsigned(let unsigned)), (.unsigned(let unsigned), .integer(let integer)):
            integer == unsigned
        case (.double(let lhs), .double(let rhs)): lhs.bitPattern == rhs.bitPattern
        case (.string(let lhs), .string(let rhs)): lhs.hasSameBytes(as: rhs)
        case (.data(let lhs), .data(let rhs)): lhs == rhs
        case (.date(let lhs), .date(let rhs)):
            lhs.timeIntervalSinceReferenceDate.bitPattern == rhs.timeIntervalSinceReferenceDate.bitPattern
        case (.array(let lhs), .array(let rhs)): lhs == rhs
        case (.dictionary(let lhs), .dictionary(let rhs)):
            lhs.isEqual(to: rhs)
        default: false
        }
    }

    /// Hashes the value; equal values have equal hashes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(Int64(truncatingIfNeeded: value))
        case .double(let value): hasher.combine(value.bitPattern)
        case .string(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .array(let value): hasher.combine(value)
        case .dictionary(let value): hasher.combine(value)
        }
    }
}

extension PropertyList: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer. A literal beyond 64 bits terminates the program.
    public init(integerLiteral value: StaticBigInt) {
        precondition(
            value.bitWidth <= (value.signum() < 0 ? 64 : 65),
            "an integer in a property list must be from Int64.min to UInt64.max")
        var bits: UInt64 = 0
        for word in 0..<(64 / UInt.bitWidth) { bits |= UInt64(value[word]) << (word * UInt.bitWidth) }
        self = value.bitWidth > 64 ? .unsigned(bits) : .integer(Int64(bitPattern: bits))
    }
    /// Creates a double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: PropertyList...) { self = .array(elements) }

    /// Creates a dictionary. If a key occurs more than once, its last value is used.
    public init(dictionaryLiteral elements: (String, PropertyList)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
}

// Stored values do not show in logs. To see a value, use its `object`.
extension PropertyList: DiscreetlyDescribed {
    /// The kind of the value, without the value itself.
    var summary: String { "PropertyList(\(kindName))" }

    /// The kind with its article, for error messages.
    var kindName: String {
        switch self {
        case .bool: "a Boolean"
        case .integer, .unsigned: "an integer"
        case .double: "a double"
        case .string: "a string"
        case .data: "data"
        case .date: "a date"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}

extension PropertyList {
    /// Creates an integer; `nil` below `Int64.min` and above `UInt64.max`.
    package init?(exactly value: some BinaryInteger) {
        if let value = Int64(exactly: value) {
            self = .integer(value)
        } else if let value = UInt64(exactly: value) {
            self = .unsigned(value)
        } else {
            return nil
        }
    }
}

extension [String: PropertyList] {
    /// Returns whether all entries satisfy a condition, together with the entries of the same keys
    /// in another dictionary.
    ///
    /// Usually both have the same order. Searching a key takes longer than comparing two.
    func allPairs(
        with other: [String: PropertyList], _ condition: (String, PropertyList, PropertyList?) -> Bool
    ) -> Bool {
        var others = other.makeIterator()
        for (key, value) in self {
            if let next = others.next(), next.key.hasSameBytes(as: key) {
                guard condition(key, value, next.value) else { return false }
            } else {
                let found = other.index(forKey: key).map { other[$0] }
                let isSame = found?.key.hasSameBytes(as: key) == true
                guard condition(key, value, isSame ? found?.value : nil) else { return false }
            }
        }
        return true
    }

    /// Returns whether both have the same entries, to the bit.
    func isEqual(to other: Self) -> Bool {
        if isIdentical(to: other) { return true }
        guard count == other.count else { return false }
        var others = other.makeIterator()
        for (key, value) in self {
            guard let other = others.next(), key.hasSameBytes(as: other.key) else {
                return allPairs(with: other) { $1 == $2 }
            }
            guard value == other.value else { return false }
        }
        return true
    }

    /// Whether both are copies of one dictionary, so that comparing their entries is not necessary.
    private func isIdentical(to other: [String: PropertyList]) -> Bool {
        // Safe: a dictionary is one reference, which is only compared.
        unsafeBitCast(self, to: UInt.self) == unsafeBitCast(other, to: UInt.self)
    }
}
