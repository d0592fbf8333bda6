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

/// Returns whether both are `nil`, or are the same and of a type that is `Equatable`.
func areKnownSame<Value>(_ one: Value?, _ other: Value?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    func isSame<Equal: Equatable>(_ one: Equal) -> Bool { areSame(one, other as? Equal) }
    return (one as? any Equatable).map { isSame($0) } ?? false
}
