#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Written as a string of decimal digits, such as "1.1", or "NaN", independent of the locale. Also
/// read from an integer, and from a double by its shortest digits.
extension Decimal: NativeValue {
    init?(_ stored: PropertyList) {
        switch stored {
        case .string(let text): self.init(argument: text)
        case .integer(let value): self.init(argument: value.description)
        case .unsigned(let value): self.init(argument: value.description)
        case .double(let value): self.init(argument: value.description)
        default: return nil
        }
    }

    init?(argument: String) {
        if argument == "NaN" {
            self = .nan
            return
        }
        // `Decimal(string:)` ignores text after the digits. `Double`'s initializer reads the whole
        // string.
        guard Double(argument) != nil, argument.utf8.allSatisfy("0123456789+-.eE".utf8.contains) else { return nil }
        self.init(string: argument)
    }

    init?(foreign stored: PropertyList) { self.init(argument: stored.digits ?? "") }

    var propertyList: PropertyList { .string(description) }
}
