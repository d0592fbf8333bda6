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
    private var entries: [ByteString: Entry] = [:]

    var count: Int { entries.count }

    subscript(id: CoreID) -> SuiteCore? { entries[id.bytes]?.core }

    mutating func insert(_ core: SuiteCore, _ id: CoreID) {
        entries[id.bytes] = Entry(core: core, object: ObjectIdentifier(core))
    }

    /// Called from the core's deinit. Another core may have taken its place.
    mutating func remove(_ core: SuiteCore, _ id: CoreID) {
        if entries[id.bytes]?.object == ObjectIdentifier(core) { entries[id.bytes] = nil }
    }
}

/// The identity of a suite: a path, a domain of `UserDefaults`, or an object.
struct CoreID: Sendable {
    // Not a type of its own as the key of the table: the first dictionary with keys of a type
    // searches all conformances of the program.
    fileprivate let bytes: ByteString

    /// - Parameter path: An absolute path, or a text that differs from those of the other two.
    init(path: String) { bytes = ByteString(path) }
    init(domain: String) { bytes = ByteString("domain \(domain)") }
    init(_ object: AnyObject) { bytes = ByteString("object \(UInt(bitPattern: ObjectIdentifier(object)))") }
}

extension SuiteCore {
    /// Returns the core in use for an identity, or a new core for the backend that `makeBackend`
    /// returns.
    ///
    /// The backend is created and attached under no lock, so it may create suites. If two threads
    /// do so at the same time, both get the core of the thread that finishes first, and the other
    /// core is released unused.
    static func shared<Failure: Error>(
        id: CoreID, isStandard: Bool = false,
        _ makeBackend: () throws(Failure) -> any SystemBackend
    ) throws(Failure) -> SuiteCore {
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
