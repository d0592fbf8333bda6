import SettingsFile

extension DefaultsSuite {
    /// Calls the handler after each commit that changes one of several keys, with all of their
    /// values, until the token is cancelled or deallocated.
    ///
    /// ```swift
    /// let token = suite.observe(.volume, .theme, initial: true) { volume, theme in … }
    /// ```
    ///
    /// The values are those right after the commit. A key has its default in place of a value that
    /// is missing or cannot be read.
    ///
    /// Name a parameter for each key: the compiler of Swift 6.3 crashes at `$0` for three or more.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another key.
    ///   - others: More keys.
    ///   - initial: Whether to call the handler with the current values first.
    ///   - handler: Receives the values in the order of the keys.
    public func observe<First, Second, each Other>(
        _ first: DefaultKey<First>, _ second: DefaultKey<Second>, _ others: repeat DefaultKey<each Other>,
        initial: Bool = false, _ handler: @escaping @Sendable ((First, Second, repeat each Other)) -> Void
    ) -> ObservationToken { observing(first, second, repeat each others, initial: initial, handler) }

    /// The current values of several keys, followed by the new values after each commit that
    /// changes one of them.
    ///
    /// ```swift
    /// for await (volume, theme) in suite.values(.volume, .theme) { … }
    /// ```
    ///
    /// The values are those of one commit. A slow consumer misses some, but never the last ones.
    // Not `First, Second, each Other`: Swift 6.3 miscompiles a closure over a tuple of single parts
    // and a pack that is passed as a closure over a generic element.
    public func values<each Value>(_ keys: repeat DefaultKey<each Value>) -> DefaultUpdates<(repeat each Value)> {
        DefaultUpdates { element in observing(repeat each keys, initial: true, element) }
    }

    private func observing<each Value>(
        _ keys: repeat DefaultKey<each Value>, initial: Bool,
        _ handler: @escaping @Sendable ((repeat each Value)) -> Void
    ) -> ObservationToken {
        let suite = current
        var slots: [Slot] = []
        repeat slots.append(Setting(suite, each keys).slot)
        let observer = Observer { [slots] notice in
            guard case .ofSlots(let found) = notice else { return }
            var values = SlotValues(rest: zip(slots, found).makeIterator())
            handler((repeat values.next(each keys)))
        }
        return suite.core.observe(slots, observer, initial: initial)
    }
}

/// The values of several slots, in their order.
private struct SlotValues {
    var rest: Zip2Sequence<[Slot], [Found]>.Iterator

    mutating func next<Value>(_ key: DefaultKey<Value>) -> Value {
        guard let (slot, found) = rest.next(), case .value(let stored) = found,
            case .value(let box) = slot.decode(stored), let box = box as? Box<Value>
        else { return key.defaultValue }
        return box.value
    }
}
