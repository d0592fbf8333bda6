import SettingsFile

extension DefaultsSuite {
    /// Calls the handler after each commit that changes one of several keys, with all of their
    /// values, until the token is cancelled or deallocated.
    ///
    /// ```swift
    /// let token = suite.observe(.volume, .theme, initial: true) { volume, theme in … }
    /// ```
    ///
    /// The values are read in one step, as by ``read(_:_:)``, at the change or later. A key has its
    /// default in place of a value that is missing or cannot be read.
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
    /// The values are read in one step. A slow consumer misses some, but never the last ones.
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
        let observed = ObservedSlots(slots, suite)
        let observer = Observer<SlotChange> { _ in
            guard var contents = observed.newContents() else { return }
            handler((repeat contents.next(each keys)))
        }
        return suite.core.observe(slots, observer, initial: initial)
    }
}

/// What an observer of several slots has received last.
private final class ObservedSlots: Sendable {
    private typealias Effective = (stored: PropertyList?, content: SeenValue.Content)
    private let slots: [Slot]
    private let suite: DefaultsSuite
    private let last = Locked<[PropertyList?]?>(nil)

    init(_ slots: [Slot], _ suite: DefaultsSuite) { (self.slots, self.suite) = (slots, suite) }

    /// Returns the current contents, or `nil` if they are the last ones: a commit that changes two
    /// keys causes an event for each.
    func newContents() -> Contents? {
        let read = { [slots] () throws(DefaultsError) in slots.map(self.effective) }
        // If other writers keep writing for too long, the values may be from two moments.
        let values = (try? suite.consistently(read)) ?? slots.map(effective)
        let new = values.map(\.stored)
        guard last.withLock({ exchange(&$0, with: new) }) != new else { return nil }
        return Contents(rest: values.map(\.content)[...])
    }

    /// Returns the effective value of a slot; nothing if it cannot be read.
    private func effective(_ slot: Slot) -> Effective {
        let layered = suite.core.layered(slot)
        if let before = layered.before { return (before.stored, slot.decode(before.stored)) }
        let seen = try? suite.core.seen(slot)
        if let seen, seen.stored != nil { return (seen.stored, seen.content) }
        guard let behind = layered.behind else { return (nil, .missing) }
        return (behind.stored, slot.decode(behind.stored))
    }

    /// Contents in the order of the slots.
    struct Contents {
        fileprivate var rest: ArraySlice<SeenValue.Content>

        mutating func next<Value>(_ key: DefaultKey<Value>) -> Value {
            guard case .value(let box)? = rest.popFirst(), let box = box as? Box<Value> else { return key.defaultValue }
            return box.value
        }
    }
}
