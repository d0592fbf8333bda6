import SettingsFile

/// The cores in use. Suites with the same name or backend share one core.
private let coresInUse = Forks.holding(Locked(CoresInUse()), .suites)
private struct CoresInUse {
    private struct Entry {
        weak var core: SuiteCore?
        // Identifies the core without retaining it, because releasing it could run its deinit under
        // the lock.
        let object: ObjectIdentifier
    }
    private var entries: [CoreID: Entry] = [:]

    var count: Int { entries.count }

    subscript(id: CoreID) -> SuiteCore? { entries[id]?.core }

    mutating func insert(_ core: SuiteCore, _ id: CoreID) {
        entries[id] = Entry(core: core, object: ObjectIdentifier(core))
    }

    /// Called from the core's deinit. Another core may have taken its place.
    mutating func remove(_ core: SuiteCore, _ id: CoreID) {
        if entries[id]?.object == ObjectIdentifier(core) { entries[id] = nil }
    }
}

/// The identity of a suite: the bytes of a path or name, or an object.
struct CoreID: Hashable, @unchecked Sendable {
    // Safe: made of a `Sendable` value only.
    private let value: AnyHashable
    init(_ value: some Hashable & Sendable) { self.value = value }
}

extension SuiteCore {
    /// Returns the core in use for an identity, or a new core for the backend that `makeBackend`
    /// returns.
    ///
    /// The backend is created and attached under no lock, so it may create suites. If two threads
    /// do so at the same time, both get the core of the thread that finishes first, and the other
    /// core is released unused.
    static func shared<Failure: Error>(
        id: some Hashable & Sendable, isStandard: Bool = false,
        _ makeBackend: () throws(Failure) -> any SystemBackend
    ) throws(Failure) -> SuiteCore {
        let id = CoreID(id)
        if let core = inUse(id) { return core }
        let made = SuiteCore(try makeBackend(), timeout: .seconds(2), id: id, isStandard: isStandard)
        return coresInUse.withLock { cores in
            if let core = cores[id] { return core }
            cores.insert(made, id)
            return made
        }
    }

    static func inUse(_ id: CoreID) -> SuiteCore? { coresInUse.withLock { $0[id] } }

    /// Forgets a core that is being deallocated.
    static func forget(_ core: SuiteCore, _ id: CoreID) { coresInUse.withLock { $0.remove(core, id) } }

    /// The number of identities that have a core.
    static var countInUse: Int { coresInUse.withLock { $0.count } }
}
