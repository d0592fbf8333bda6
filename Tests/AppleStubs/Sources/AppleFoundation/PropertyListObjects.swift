/// Bridging drops all but one of the keys that Swift calls equal (the comment in swift-corelibs-foundation's `Dictionary.swift`).
func bridged(_ values: [Data: Any]) -> [String: Any] {
    Dictionary(values.map { (String(decoding: $0.key, as: UTF8.self), $0.value) }) { first, _ in first }
}

/// What a property list gives back: numbers as `NSNumber`.
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
    // "Attempt to insert non-property list object", an exception that ends the program:
    // https://developer.apple.com/documentation/foundation/userdefaults/set(_:forkey:)-3pemx
    default: fatalError("an attempt to insert a \(type(of: value)), which is no property list object")
    }
}

/// `CFNumberCreate` gives one and the same number for each NaN, and keeps the sign of zero:
/// https://github.com/swiftlang/swift-corelibs-foundation/blob/main/Sources/CoreFoundation/CFNumber.c
private func number(_ value: Double) -> Any {
    if value.isNaN { return NSNumber(value: Double.nan) }
    let number = NSNumber(value: value)
    // Where that of Linux would lose a bit that Apple's keeps.
    return number.doubleValue.bitPattern == value.bitPattern ? number : value
}
