/// Whether both are stored as the same bits, where that can be seen from the values; else whether they are equal.
func areSame<Value: Equatable>(_ one: Value?, _ other: Value?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    do throws(DefaultsError) {
        return try PropertyList(one) == PropertyList(other)
    } catch {
        return one == other
    }
}
