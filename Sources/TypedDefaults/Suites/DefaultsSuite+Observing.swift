extension DefaultsSuite {
    /// Calls the handler once after each commit that changes keys with a prefix, until the token is
    /// cancelled or deallocated.
    ///
    /// ```swift
    /// let token = suite.observeAll(prefix: "com.example.camera.") { change in print(change.keys) }
    /// ```
    ///
    /// Several changes that another process makes in quick succession are reported as one. On
    /// `UserDefaults`, changes by other code are reported for keys that are stored when the
    /// observation begins, and for those of settings that this process uses.
    ///
    /// See also ``DefaultStoreType/observe(initial:_:)``.
    ///
    /// - Parameters:
    ///   - prefix: The bytes that a key begins with; `""` for all keys.
    ///   - handler: Receives each change.
    public func observeAll(
        prefix: String = "", _ handler: @escaping @Sendable (SuiteChange) -> Void
    ) -> ObservationToken {
        let suite = current
        let observer = Observer { notice in
            guard case .ofSuite(let change) = notice else { return }
            handler(SuiteChange(keys: change.keys.map(suite.withoutPrefix), origin: change.origin))
        }
        return suite.core.observe(prefix: suite.withPrefix(prefix), observer)
    }

    /// The changes of all keys with a prefix. A slow consumer receives several changes as one, with
    /// all of their keys.
    ///
    /// ```swift
    /// for await change in suite.allChanges(prefix: "com.example.camera.") { upload(change.keys) }
    /// ```
    public func allChanges(prefix: String = "") -> DefaultUpdates<SuiteChange> {
        DefaultUpdates({ element in observeAll(prefix: prefix, element) }, merge: { $0.merged(with: $1) })
    }
}
