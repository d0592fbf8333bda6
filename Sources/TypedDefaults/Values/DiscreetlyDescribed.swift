/// A type whose description is known to show no stored value. Its mirror is empty, so that `dump`
/// shows none either.
protocol DiscreetlyDescribed: CustomStringConvertible, CustomReflectable {}

extension DiscreetlyDescribed {
    public var customMirror: Mirror { Mirror(self, children: []) }
}
