extension DefaultsSuite.Selection {
    /// One or more keys.
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

    /// The keys.
    public static func keys(_ keys: some Sequence<AnyDefaultKey>) -> DefaultsSuite.Selection {
        .keys(keys.map(\.name))
    }
}
