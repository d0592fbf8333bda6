/// Returns whether both are stored as the same bits, or are equal if they are not property list
/// objects.
func areSame<Value: Equatable>(_ one: Value?, _ other: Value?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    do throws(DefaultsError) {
        return try PropertyList(one) == PropertyList(other)
    } catch {
        return one == other
    }
}
