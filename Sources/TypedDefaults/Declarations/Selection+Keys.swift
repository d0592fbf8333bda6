extension DefaultsSuite.Selection {
    /// One or more keys, with their former names.
    ///
    /// ```swift
    /// try DefaultsSuite.standard.move(.keys(.quality, .mode), to: group)
    /// ```
    public static func keys<First, each Other>(
        _ key: DefaultKey<First>, _ others: repeat DefaultKey<each Other>
    ) -> DefaultsSuite.Selection {
        var keys = [AnyDefaultKey(key)]
        repeat keys.append(AnyDefaultKey(each others))
        return .keys(keys)
    }

    /// The keys, with their former names.
    public static func keys(_ keys: some Sequence<AnyDefaultKey>) -> DefaultsSuite.Selection {
        DefaultsSuite.Selection(names: .named(keys.map { [$0.name] + $0.formerNames }))
    }
}
