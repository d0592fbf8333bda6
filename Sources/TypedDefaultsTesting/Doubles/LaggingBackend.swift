import SettingsFile
public import TypedDefaults

/// A backend in memory that other machines write as well, and whose reads lag behind them.
///
/// ```swift
/// let backend = LaggingBackend(["launchCount": 5])
/// let (here, there) = (DefaultsSuite(backend: backend), DefaultsSuite(backend: backend.peer()))
/// there[.launchCount] = 7
/// #expect(here[.launchCount] == 5)
/// backend.catchUp()
/// #expect(here[.launchCount] == 7)
/// ```
///
/// Each backend reads a copy of the storage, which may be out of date. ``catchUp()``, a commit of
/// its own and a refused commit bring the copy up to date. A commit is refused if another machine
/// has committed since the write began, so no update is lost.
public final class LaggingBackend: DefaultsBackend {
    /// The state that all machines share.
    private struct Place {
        var contents: [ByteString: PropertyList] = [:]
        /// The machine and the keys of each commit, oldest first. The generation is their number
        /// plus 1.
        var commits: [(author: ObjectIdentifier, keys: [String])] = []
        var generation: UInt64 { UInt64(commits.count + 1) }
    }

    private let place: Locked<Place>
    /// What this machine has seen.
    private let copy: Locked<Place>
    private let handler = AttachedHandler()

    /// Creates a backend on storage of its own that starts with the given contents.
    public convenience init(_ contents: SuiteContents = [:]) {
        let pairs = contents.stored.map { (ByteString($0.key), $0.value) }
        self.init(Locked(Place(contents: Dictionary(uniqueKeysWithValues: pairs))))
    }

    private init(_ place: Locked<Place>) {
        self.place = place
        copy = Locked(place.withLock { $0 })
    }

    /// Returns the up-to-date backend of another machine on the same storage.
    public func peer() -> LaggingBackend { LaggingBackend(place) }

    /// Makes reads return the values that are stored now. Observers of the suite on this backend
    /// have received the changes when this returns, unless another thread is writing to the suite.
    public func catchUp() { catchUp(with: place.withLock { $0 }) }

    private func catchUp(with place: Place) {
        let keys = copy.withLock { copy -> [String] in
            // Otherwise, another thread has updated it further.
            guard place.generation > copy.generation else { return [] }
            let new = place.commits[copy.commits.count...].filter { $0.author != ObjectIdentifier(self) }
            copy = place
            return new.flatMap(\.keys)
        }
        if !keys.isEmpty { handler(.changed(keys: keys)) }
    }

    /// Reads the copy.
    public func value(forKey key: String) -> PropertyList? { copy.withLock { $0.contents[ByteString(key)] } }

    /// Returns the keys of the copy.
    public func keys() -> [String] { copy.withLock { $0.contents.keys.map(\.string) } }

    /// Stores the edits unless another machine has committed since the write began.
    public func commit(_ edits: BackendEdits, over generation: UInt64?) -> CommitOutcome {
        let (place, isStored) = place.withLock { place in
            guard place.generation == generation else { return (place, false) }
            for (key, value) in edits { place.contents[ByteString(key)] = value }
            if !edits.isEmpty { place.commits.append((ObjectIdentifier(self), edits.map(\.key))) }
            return (place, true)
        }
        catchUp(with: place)
        return isStored ? .committed(generation: place.generation) : .changedMeanwhile
    }

    /// The number of commits that this machine has seen, plus 1.
    public var generation: UInt64? { copy.withLock { $0.generation } }

    /// Returns the keys that were changed.
    public func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        let place = copy.withLock { $0 }
        return (place.commits.dropFirst(max(0, Int(generation) - 1)).flatMap(\.keys), place.generation)
    }

    /// Takes the closure that receives the changes of other machines.
    public func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        if let handler { self.handler.attach(handler) }
        return false
    }

    /// Reads may lag.
    public var traits: BackendTraits { BackendTraits(location: "\(ObjectIdentifier(place))", readsMayLag: true) }
}
