extension DefaultStoreType {
    /// The values of the store from now on, the present one first; nil where nothing is stored, or nothing that can be read.
    public var values: DefaultUpdates<Default?> {
        DefaultUpdates { element in observe(initial: true) { element($0.newValue) } }
    }

    /// The changes of the store from now on.
    ///
    /// A consumer that is slower than the changes receives several as one, from the old value of the first to the new value of the last, so
    /// each change begins with the value that the previous one ended with.
    public var changes: DefaultUpdates<DefaultChange<Default>> {
        DefaultUpdates({ element in observe(initial: false, element) }, merge: { $0.merged(with: $1) })
    }
}
