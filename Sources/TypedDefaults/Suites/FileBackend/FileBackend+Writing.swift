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
        try withLog(making: true) { log, state throws(FileFailure) in
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
            if log!.isDoubtful { try repair(&log!, &state) }
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
            if log!.isDueForReplacement(appending: count) { try repair(&log!, &state) }
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
        let target = try withLog { log, state throws(FileFailure) in
            if let current = log, try place.isReplaced(current) {
                state.doubtsName = true
                try catchUp(&log, &state)
            }
            return log?.end
        }
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
