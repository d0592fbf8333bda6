/// Written as a string, with its own bytes: no normalisation. Otherwise nil: a number is not read as a string.
extension String: NativeValue {
    init?(_ stored: PropertyList) {
        guard case .string(let value) = stored else { return nil }
        self = value
    }

    init?(argument: String) { self = argument }

    var propertyList: PropertyList { .string(self) }
}
