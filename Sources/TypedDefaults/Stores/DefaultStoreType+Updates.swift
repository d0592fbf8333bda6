extension DefaultStoreType {
    /// The current stored value, followed by each new one; `nil` for a value that is missing or
    /// cannot be read.
    public var values: DefaultUpdates<Default?> {
        DefaultUpdates { element in observe(initial: true) { element($0.newValue) } }
    }

    /// The changes of the store, without the current value.
    ///
    /// A slow consumer receives several changes as one, from the old value of the first to the new
    /// value of the last, so each change begins with the value that the previous one ended with.
    public var changes: DefaultUpdates<DefaultChange<Default>> {
        DefaultUpdates({ element in observe(initial: false) { element($0.decoded()) } }, merge: { $0.merged(with: $1) })
    }
}
