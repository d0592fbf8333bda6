package import TypedDefaults

/// A type for each form that a declaration chooses by its type.
package enum DeclaredForms {
    /// Has a raw value and is neither `Codable` nor ``DefaultConvertible``.
    package enum Raw: String { case one, two }

    package struct Converting: DefaultConvertible {
        package static let key = "unused"
        package var number: Int
        package init(_ number: Int) { self.number = number }
        package init?(_ object: Any) {
            guard let text = object as? String, let number = Int(text.dropFirst()) else { return nil }
            self.number = number
        }
        package func serialize() -> Any { "#\(number)" }
    }

    package enum Both: Int, DefaultConvertible {
        package static let key = "unused"
        case zero, one
        package init?(_ object: Any) {
            guard let text = object as? String else { return nil }
            self = text == "uno" ? .one : .zero
        }
        package func serialize() -> Any { self == .one ? "uno" : "cero" }
    }

    /// What a suite contains after the second value of each type was stored under its name.
    package static let stored: SuiteContents = [
        "raw": "two", "optionalRaw": "two", "converting": "#2", "optionalConverting": "#2", "both": "uno",
        "optionalBoth": "uno",
    ]
}
