import SettingsFile

/// An object for each type, which is created when it is first asked for.
struct PerType<Object: AnyObject & Sendable>: Sendable {
    private let known = Locked<[ObjectIdentifier: Object]>([:])

    /// - Parameter make: Creates the object. It runs outside the lock, because it may run code of
    ///   the program.
    @inline(__always)
    func object(of type: Any.Type, _ make: () -> Object) -> Object {
        let id = ObjectIdentifier(type)
        if let object = known.withLock({ $0[id] }) { return object }
        let new = make()
        return known.withLock { known in
            let object = known[id] ?? new
            known[id] = object
            return object
        }
    }
}
