/// Written as a string, byte for byte, without normalization. Not read from a number.
extension String: NativeValue {
    init?(_ stored: PropertyList) {
        guard case .string(let value) = stored else { return nil }
        self = value
    }

    init?(argument: String) { self = argument }

    var propertyList: PropertyList { .string(self) }
}
