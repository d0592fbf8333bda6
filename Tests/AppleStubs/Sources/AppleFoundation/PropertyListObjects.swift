/// Returns a dictionary with string keys. Bridging keeps only one of several keys that Swift
/// considers equal (see the comment in swift-corelibs-foundation's `Dictionary.swift`).
func bridged(_ values: [Data: Any]) -> [String: Any] {
    Dictionary(values.map { (String(decoding: $0.key, as: UTF8.self), $0.value) }) { first, _ in first }
}

/// Returns a value as read back from a property list, with numbers as `NSNumber`.
func copied(_ value: Any) -> Any {
    switch value {
    case let value as NSNumber: value.doubleValue.isNaN ? number(value.doubleValue) : value
    case let value as Bool: NSNumber(value: value)
    case let value as Int: NSNumber(value: value)
    case let value as UInt64: NSNumber(value: value)
    case let value as Double: number(value)
    case let value as String: value
    case let value as Data: value
    case let value as Date: value
    case let value as [Any]: value.map(copied)
    case let value as [String: Any]: value.mapValues(copied)
    // "Attempt to insert non-property list object", an exception that crashes the program:
    // https://developer.apple.com/documentation/foundation/userdefaults/set(_:forkey:)-3pemx
    default: fatalError("attempt to insert a \(type(of: value)), which is not a property list object")
    }
}

/// `CFNumberCreate` returns the same number for every NaN, and keeps the sign of zero:
/// https://github.com/swiftlang/swift-corelibs-foundation/blob/main/Sources/CoreFoundation/CFNumber.c
private func number(_ value: Double) -> Any {
    if value.isNaN { return NSNumber(value: Double.nan) }
    let number = NSNumber(value: value)
    // Return the `Double` if `NSNumber` on Linux would lose a bit that Apple's keeps.
    return number.doubleValue.bitPattern == value.bitPattern ? number : value
}
