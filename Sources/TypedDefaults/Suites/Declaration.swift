/// What one declaration says of a setting, as an object, so that the same one is known again at the cost of a comparison.
final class Declaration<Value: Sendable>: AnyDeclaration {
    private let defaultValue: Value?
    let conversion: Conversion<Value>

    /// - Parameter defaultValue: Nil if nothing is said of it.
    init(_ conversion: Conversion<Value>, default defaultValue: Value?) {
        self.conversion = conversion
        self.defaultValue = defaultValue
    }

    var form: ConversionForm {
        ConversionForm(type: ObjectIdentifier(type), kind: conversion.kind)
    }
    var type: Any.Type { (Value.self as? any AnyOptional.Type)?.wrappedType ?? Value.self }

    var defaultFingerprint: Int? {
        guard let defaultValue else { return nil }
        do throws(DefaultsError) {
            return try conversion.encode(defaultValue)?.hashRegardlessOfOrder ?? 0
        } catch {
            return nil
        }
    }
}

/// A ``Declaration`` of whatever type.
protocol AnyDeclaration: AnyObject, Sendable {
    /// How the value is stored; that of an optional is the form of what it holds.
    var form: ConversionForm { get }
    var type: Any.Type { get }
    /// A number that equal defaults have in common; nil if there is none, or none that can be stored.
    var defaultFingerprint: Int? { get }
}

extension AnyDeclaration {
    /// Why a setting cannot be declared as both; nil if it can.
    func conflict(with other: any AnyDeclaration, key: String) -> DefaultsError? {
        guard form == other.form else {
            let isOfOneName = "\(type)" == "\(other.type)"
            let others = isOfOneName ? String(reflecting: other.type) : "\(other.type)"
            let way = type == other.type ? "in two forms" : "as \(others) as well"
            return DefaultsError(
                .conflict, key: key, type: isOfOneName ? String(reflecting: type) : "\(type)",
                reason: "the key is declared \(way)")
        }
        guard let mine = defaultFingerprint, let others = other.defaultFingerprint, mine != others else { return nil }
        return DefaultsError(
            .conflict, key: key, type: "\(type)",
            reason: "the key is declared with two defaults, or with one that is not the same each time")
    }
}
