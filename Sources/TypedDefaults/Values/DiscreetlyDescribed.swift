/// A type whose description shows no stored value, and neither does `dump`, because its mirror is
/// empty.
protocol DiscreetlyDescribed: CustomStringConvertible, CustomReflectable {
    /// The ``description``: type, names and counts.
    var summary: String { get }
}

extension DiscreetlyDescribed {
    public var description: String { summary }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
