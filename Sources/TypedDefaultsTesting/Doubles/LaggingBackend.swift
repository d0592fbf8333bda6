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
/// has changed what it depends on since the write began, so no update is lost.
public final class LaggingBackend: DefaultsBackend {
    private typealias Author = ObjectIdentifier

    /// The state that all machines share.
    private struct Place {
        var contents: [ByteString: PropertyList] = [:]
        /// The machine and the keys of each commit, oldest first. The number of a commit is its
        /// index plus 1.
        var commits: [(author: Author, keys: [String])] = []

        /// Returns the keys that were changed by commits with these numbers.
        func keys(changedIn numbers: Range<Int>, except author: Author? = nil) -> [String] {
            commits[numbers].flatMap { $0.author == author ? [] : $0.keys }
        }
    }

    /// The state that this machine has seen.
    private struct Copy {
        var contents: [ByteString: PropertyList]
        /// The number of commits.
        var count: Int
        /// The number of commits when the current write began.
        var countAtBegin = 0
        var handler: (@Sendable (BackendEvent) -> Void)?
    }

    private let place: Locked<Place>
    private let copy: Locked<Copy>

    /// Creates a backend on storage of its own that starts with the given contents.
    public convenience init(_ contents: SuiteContents = [:]) {
        let pairs = contents.stored.map { (ByteString($0.key), $0.value) }
        self.init(Locked(Place(contents: Dictionary(uniqueKeysWithValues: pairs))))
    }

    private init(_ place: Locked<Place>) {
        self.place = place
        copy = Locked(place.withLock { Copy(contents: $0.contents, count: $0.commits.count) })
    }

    /// Returns the up-to-date backend of another machine on the same storage.
    public func peer() -> LaggingBackend { LaggingBackend(place) }

    /// Makes reads return the values that are stored now. Observers of the suite on this backend
    /// have received the changes when this returns, unless another thread is writing to the suite.
    public func catchUp() { catchUp(with: place.withLock { $0 }) }

    private func catchUp(with place: Place) {
        let (keys, handler) = copy.withLock { copy in
            // Otherwise, another thread has updated it further.
            guard place.commits.count > copy.count else { return ([String](), copy.handler) }
            let keys = place.keys(changedIn: copy.count..<place.commits.count, except: Author(self))
            (copy.contents, copy.count) = (place.contents, place.commits.count)
            return (keys, copy.handler)
        }
        if !keys.isEmpty { handler?(.changed(keys: keys)) }
    }

    /// Reads the copy.
    public func value(forKey key: String) -> PropertyList? { copy.withLock { $0.contents[ByteString(key)] } }

    /// Returns the keys of the copy.
    public func keys() -> [String] { copy.withLock { $0.contents.keys.map(\.string) } }

    /// Records what this machine has seen.
    public func beginWrite() { copy.withLock { $0.countAtBegin = $0.count } }

    /// Stores the edits unless what the commit depends on has changed since the write began.
    public func commit(_ commit: BackendCommit) -> BackendCommit.Outcome {
        let begin = copy.withLock { $0.countAtBegin }
        let (place, isStored) = place.withLock { place in
            let changed = Set(
                place.keys(changedIn: begin..<place.commits.count, except: Author(self)).map(ByteString.init))
            let reads = commit.reads.map { Set(($0 + commit.edits.map(\.key)).map(ByteString.init)) }
            guard reads.map({ changed.isDisjoint(with: $0) }) ?? changed.isEmpty else { return (place, false) }
            for (key, value) in commit.edits { place.contents[ByteString(key)] = value }
            if !commit.edits.isEmpty { place.commits.append((Author(self), commit.edits.map(\.key))) }
            return (place, true)
        }
        catchUp(with: place)
        return isStored ? .committed(generation: UInt64(place.commits.count + 1)) : .changedMeanwhile
    }

    /// The number of commits that this machine has seen, plus 1.
    public var generation: UInt64? { copy.withLock { UInt64($0.count + 1) } }

    /// Returns the keys that were changed.
    public func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        let count = copy.withLock { $0.count }
        let keys = place.withLock { $0.keys(changedIn: min(count, max(0, Int(generation) - 1))..<count) }
        return (keys, UInt64(count + 1))
    }

    /// Takes the closure that receives the changes of other machines.
    public func attach(_ handler: @escaping @Sendable (BackendEvent) -> Void) {
        let old = copy.withLock { exchange(&$0.handler, with: handler) }
        withExtendedLifetime(old) {}
    }

    /// Reads may lag.
    public var traits: BackendTraits { BackendTraits(location: "\(ObjectIdentifier(place))", readsMayLag: true) }
}
