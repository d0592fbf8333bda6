/// Written as a Boolean. Also read from the integers 0 and 1.
extension Bool: NativeValue {
    init?(_ stored: PropertyList) {
        switch stored {
        case .bool(let value): self = value
        case .integer(0), .unsigned(0): self = false
        case .integer(1), .unsigned(1): self = true
        default: return nil
        }
    }

    /// Reads strings as `UserDefaults.bool(forKey:)` does: YES, true and 1, NO, false and 0, in any
    /// case.
    init?(argument: String) {
        switch argument.lowercased() {
        case "yes", "true", "1": self = true
        case "no", "false", "0": self = false
        default: return nil
        }
    }

    var propertyList: PropertyList { .bool(self) }
}
