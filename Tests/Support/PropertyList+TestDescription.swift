import Foundation
public import Testing
public import TypedDefaults

// Written by hand, because `Date.description` traps for a date that is not a number, and hides
// fractions of a second.
extension PropertyList: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .double(let value): value.isNaN ? "nan(\(String(value.bitPattern, radix: 16)))" : "double \(value)"
        case .string(let value): "\"\(value.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\""
        case .data(let value): "data \(Array(value))"
        case .date(let value): "date \(value.timeIntervalSinceReferenceDate)"
        case .array(let value): "[\(value.map(\.testDescription).joined(separator: ", "))]"
        case .dictionary(let value):
            "[\(value.map { "\(PropertyList.string($0).testDescription): \($1.testDescription)" }.joined(separator: ", "))]"
        }
    }
}
