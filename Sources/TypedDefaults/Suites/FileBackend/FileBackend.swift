/// Settings in a file of this library's own format, which any number of processes and threads may use at once.
///
/// The file is a log: each commit is one record behind the last one, whole or not there. Reading needs no lock and, as long as nobody
/// has written, no system call. Writers take turns by a lock on the file, which the system releases if one of them dies.
///
/// - Important: Replace such a file by renaming another one over it. To write over it in place, or to cut it short, may end the
///   processes that have it open.
public final class FileBackend: DefaultsBackend {
    /// When a change is safe from a loss of power. From a kill it is safe as soon as it is made.
    public enum Durability: Sendable {
        /// Within a second, at a normal exit, and once ``DefaultsSuite/synchronize()`` has returned.
        case process
        /// As soon as it is made: a `set` or `save` takes as long as the disk does.
        case immediate
    }

    public let location: String?
    private let place: FilePlace
    private let durability: Durability
    private let patience: Duration
    private let state = Locked(State())
    private let flushing = Locked<Void>(())

    private struct State {
        var log: FileLog?
        /// How often others were seen to have changed something.
        var generation: UInt64 = 1
        /// The keys that they changed, by generation; nil for all.
        var news: [(generation: UInt64, keys: [String]?)] = []
        /// Whether a writer of this process has the file's lock.
        var isLocked = false
        /// What was found damaged and is to be told when no lock is held.
        var reports: [DefaultsError] = []
        var report: @Sendable (DefaultsError) -> Void = { _ in }

        /// In a process that was forked: opens the file again, since the descriptor and its lock are the parent's.
        mutating func leaveParent() {
            guard let log, log.file.process != Forks.count else { return }
            self.log = nil
            isLocked = false
            generation &+= 1
            news.append((generation, nil))
        }
    }

    /// Creates a backend on a file, which is made when it is first used.
    ///
    /// - Parameters:
    ///   - path: An absolute path. Missing folders are made, for the user alone.
    ///   - durability: When a change is safe from a loss of power.
    public convenience init(path: String, durability: Durability = .process) {
        self.init(path: path, durability: durability, patience: .seconds(2))
    }

    init(path: String, durability: Durability, patience: Duration) {
        place = FilePlace(path: path)
        location = path
        self.durability = durability
        self.patience = patience
    }
}

// Reading.
extension FileBackend {
    public func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        let bytes = try withLog { log, _ throws(FileFailure) in try log?.bytes(forKey: key) }
        guard let bytes else { return nil }
        guard let value = bytes.withUnsafeBytes(Self.decode) else {
            throw DefaultsError(.unreadable, key: key, reason: "what is stored is no value that this version knows")
        }
        return value
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) -> PropertyList? {
        var reader = ByteReader(bytes)
        let value = reader.value()
        return reader.isAtEnd ? value : nil
    }

    public func keys() throws(DefaultsError) -> [String] {
        try withLog { log, state throws(FileFailure) in
            try catchUp(&log, &state)
            return log?.keys ?? []
        }
    }

    public var generation: UInt64? {
        state.withLock { state in
            // By optional chaining, which does not copy the log.
            guard let hasMore = state.log?.hasMore else { return nil }
            // Whoever has the lock has caught up, and what else stands there is nobody's news.
            return hasMore && !state.isLocked ? state.generation &+ 1 : state.generation
        }
    }

    public func changes(since generation: UInt64) throws(DefaultsError) -> (keys: [String]?, generation: UInt64) {
        try withLog { log, state throws(FileFailure) in
            try catchUp(&log, &state)
            let news = state.news.filter { $0.generation > generation }
            state.news = news
            guard news.allSatisfy({ $0.keys != nil }) else { return (nil, state.generation) }
            return (news.flatMap { $0.keys ?? [] }, state.generation)
        }
    }

    /// Runs `body` with the log, opened if need be; nil if there is no file, and none can be made.
    private func withLog<Result>(
        _ body: (inout FileLog?, inout State) throws(FileFailure) -> Result
    ) throws(DefaultsError) -> Result {
        defer { deliverReports() }
        do throws(FileFailure) {
            return try state.withLock { state throws(FileFailure) in
                state.leaveParent()
                if state.log == nil {
                    state.log = try place.open(patience: patience, reports: &state.reports)
                }
                // Taken out, so that the log is changed in place.
                var log = state.log
                state.log = nil
                defer { state.log = log }
                return try body(&log, &state)
            }
        } catch {
            throw unavailable(error)
        }
    }

    /// Reads what others have written, in this file and in one that has taken its place.
    private func catchUp(_ log: inout FileLog?, _ state: inout State) throws(FileFailure) {
        guard log?.hasMore == true else { return }
        let progress = try log!.readOn()
        // At once: it is applied, whatever fails after it.
        if !progress.changed.isEmpty { announce(progress.changed, &state) }
        if progress.isStopped {
            // Nothing to do while another process has the lock: it is writing what is only half there.
            let isLocked = state.isLocked
            try withLock(&log!, isLocked) { log throws(FileFailure) in
                let again = try log.readOn()
                if !again.changed.isEmpty { announce(again.changed, &state) }
                guard again.isStopped, log.isWritable, try !place.isElsewhere(log) else { return }
                do throws(FileFailure) {
                    try place.repair(&log, reports: &state.reports)
                } catch {
                    // What is good can be read; a writer cannot go on.
                    if isLocked { throw error }
                }
            }
        }
        if log!.isSealed, try place.isElsewhere(log!) {
            log = try place.open(patience: patience, reports: &state.reports)
            announce(nil, &state)
        }
    }

    /// Runs `body` with the file's lock, if it is to be had at once.
    private func withLock(
        _ log: inout FileLog, _ isLocked: Bool, _ body: (inout FileLog) throws(FileFailure) -> Void
    ) throws(FileFailure) {
        guard !isLocked else { return try body(&log) }
        let file = log.file
        guard try file.tryLock() else { return }
        defer {
            file.unlock()
            // A successor comes with its lock.
            log.file.unlock()
        }
        try body(&log)
    }

    public func attach(report: @escaping @Sendable (DefaultsError) -> Void) { state.withLock { $0.report = report } }

    private func deliverReports() {
        let (reports, report) = state.withLock { state -> ([DefaultsError], @Sendable (DefaultsError) -> Void) in
            // Not while others wait for this process: whoever comes next delivers them.
            guard !state.isLocked else { return ([], state.report) }
            defer { state.reports = [] }
            return (state.reports, state.report)
        }
        for error in reports { report(error) }
    }

    private func announce(_ keys: [String]?, _ state: inout State) {
        state.generation &+= 1
        state.news.append((state.generation, keys))
    }

    private func unavailable(_ failure: FileFailure) -> DefaultsError {
        DefaultsError(
            failure.isLimit ? .refused : .unavailable,
            reason: "the settings file \(place.path) cannot be used: \(failure.reason)")
    }
}

// Writing.
extension FileBackend {
    public func withWriteAccess(_ body: () -> Void) throws(DefaultsError) {
        let deadline = ContinuousClock.now + patience
        var pause: UInt32 = 20
        while true {
            switch try lock() {
            case .locked:
                defer { unlock() }
                return body()
            case .readOnly:
                // A commit will say why.
                return body()
            case .replaced:
                guard ContinuousClock.now < deadline else {
                    throw DefaultsError(.timedOut, reason: "\(place.path) was replaced for more than \(patience)")
                }
            case .busy:
                guard ContinuousClock.now < deadline else {
                    throw DefaultsError(
                        .timedOut, reason: "another process held \(place.path) for more than \(patience)")
                }
                SystemClock.sleep(microseconds: pause)
                pause = min(pause * 2, 2_000)
            }
        }
    }

    private enum Turn { case locked, busy, replaced, readOnly }

    private func lock() throws(DefaultsError) -> Turn {
        try withLog { log, state throws(FileFailure) in
            guard log?.isWritable == true else { return .readOnly }
            guard try log!.file.tryLock() else { return .busy }
            state.isLocked = true
            var isDone = false
            defer {
                if !isDone {
                    log?.file.unlock()
                    state.isLocked = false
                }
            }
            // The name may mean another file by now, and what is written to this one would be lost.
            guard try !place.isElsewhere(log!) else {
                log?.file.unlock()
                log = nil
                state.isLocked = false
                isDone = true
                announce(nil, &state)
                return .replaced
            }
            try catchUp(&log, &state)
            // Whoever sealed it died before the other file got its name, or would have the lock.
            if log!.isSealed { try log!.unseal() }
            if log!.isDoubtful { try place.replace(&log!) }
            isDone = true
            return .locked
        }
    }

    private func unlock() {
        state.withLock { state in
            state.log?.file.unlock()
            state.isLocked = false
        }
        deliverReports()
    }

    public func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
        var encoded: [FileEdit] = []
        var count = 0
        for (key, value) in edits {
            let edit = try Self.encode(key, value)
            count += RecordFormat.length(ofSetting: key, valueCount: edit.value?.count ?? 0)
            encoded.append(edit)
        }
        try withLog { log, state throws(FileFailure) in
            guard log?.isWritable == true else { throw FileFailure("it is read-only") }
            // Not so in a child that was forked inside a write, and where the file came up only now.
            guard state.isLocked else { throw FileFailure("its lock is not held") }
            if log!.isDueForReplacement(appending: count) { try place.replace(&log!) }
            try log!.append(encoded)
        }
    }

    private static func encode(_ key: String, _ value: PropertyList?) throws(DefaultsError) -> FileEdit {
        guard key.utf8.count <= RecordFormat.keyLimit else {
            throw DefaultsError(.refused, reason: "a key is at most \(RecordFormat.keyLimit) bytes")
        }
        guard let value else { return FileEdit(key: key, value: nil) }
        guard !value.isNested(deeperThan: PropertyList.depthLimit) else {
            throw DefaultsError(.refused, key: key, reason: "nested deeper than \(PropertyList.depthLimit) levels")
        }
        var writer = ByteWriter()
        writer.append(value)
        guard writer.bytes.count <= RecordFormat.valueLimit else {
            throw DefaultsError(.refused, key: key, reason: "a value is at most 16 MiB")
        }
        return FileEdit(key: key, value: writer.bytes)
    }

    public var synchronizationDelay: Duration? { durability == .immediate ? .zero : .milliseconds(300) }

    /// One caller flushes for all who wait: whoever comes while a flush is under way finds that the next one did it for them.
    public func synchronize() throws(DefaultsError) {
        let target = try withLog { log, _ throws(FileFailure) in log?.end }
        guard let target else { return }
        let failure = flushing.withLock { _ -> FileFailure? in
            // Those who are about to write are let through first, so that this flush is theirs as well.
            SystemClock.yield()
            // Its parts, since a copy of the log would be a copy of its index as soon as somebody writes.
            let due = state.withLock { state -> (file: File, end: Int, directory: File?)? in
                guard let log = state.log, log.flushed < target || !log.isNameFlushed || log.isDoubtful else {
                    return nil
                }
                return (log.file, log.end, log.isNameFlushed ? nil : log.directory)
            }
            guard let due else { return nil }
            do throws(FileFailure) {
                try due.file.flush()
                try due.directory?.flushNames()
                // Another flush of it has failed before, and this one says nothing of what was lost then.
                let isDoubtful = state.withLock { state in
                    guard state.log?.file === due.file else { return false }
                    state.log?.noteFlush(to: due.end)
                    return state.log?.isDoubtful ?? false
                }
                return isDoubtful ? FileFailure("an earlier flush has failed") : nil
            } catch {
                state.withLock { state in
                    if state.log?.file === due.file { state.log?.isDoubtful = true }
                }
                return error
            }
        }
        if let failure { throw unavailable(failure) }
    }
}

extension FileBackend: CustomReflectable {
    /// Empty: what is stored never shows in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
