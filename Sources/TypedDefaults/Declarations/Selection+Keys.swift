extension DefaultsSuite.Selection {
    /// One or more keys.
    ///
    /// ```swift
    /// try DefaultsSuite.standard.move(.keys(.quality, .mode), to: group)
    /// ```
    public static func keys<First, each Other>(
        _ key: DefaultKey<First>, _ others: repeat DefaultKey<each Other>
    ) -> DefaultsSuite.Selection {
        var names = [key.name]
        repeat names.append((each others).name)
        return .keys(names)
    }
}
