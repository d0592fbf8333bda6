import SettingsFile

extension DefaultStoreType {
    /// Sends a failure that cannot be thrown to the failure handler of the store's suite, or to the
    /// log if there is none.
    func fail(with error: any Error) {
        // Uses only the type of a foreign error, because its text may contain a value.
        let error = error as? DefaultsError ?? DefaultsError(.refused, reason: "the store threw \(type(of: error))")
        if let decorator = self as? any DefaultStoreDecorator { return decorator.base.fail(with: error) }
        guard let store = self as? any OwnStore else {
            return writeToLog(error.kind.description, line: "TypedDefaults: \(error)")
        }
        store.report(error)
    }

    /// Logs once for each type that it reports no changes.
    func logMissingObservation() {
        guard mutedTypes.withLock({ $0.insert(ObjectIdentifier(Self.self)).inserted }) else { return }
        fail(
            with: DefaultsError(
                .refused, type: "\(Self.self)", reason: "the store reports no changes; implement observe(initial:_:)"))
    }

    /// Runs a write that cannot throw to its caller.
    func reportingFailure(_ body: () throws -> Void) {
        do { try body() } catch { fail(with: error) }
    }
}

extension DefaultStoreType {
    /// The key under which the value is stored; `nil` if the store has none, or is not one of this
    /// library's.
    var key: String? {
        if let decorator = self as? any DefaultStoreDecorator { return decorator.base.key }
        return (self as? any OwnStore)?.storedKey
    }
}

private let mutedTypes = Locked<Set<ObjectIdentifier>>([])
