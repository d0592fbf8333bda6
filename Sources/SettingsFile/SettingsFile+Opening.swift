extension SettingsFile {
    /// Reads the records that other processes have written, in this file and in a file that
    /// replaced it.
    func catchUp(_ state: inout State) throws(FileFailure) {
        guard let open = state.log?.open else { return }
        // The values of a file that was just opened, before more records are read.
        if state.news != nil { show(&state) }
        // Loaded first: what is read after that may be newer, but never older.
        let committed = open.words.committed
        if state.isLocked {
            guard let committed, !committed.isReplaced, state.log?.isSettled == true else {
                return try settle(&state)
            }
            return try readRecords(upTo: committed, &state)
        }
        if committed == state.log?.committed, !state.nameMayHaveMoved { return }
        if let outage = state.outage, .now < outage.end { return }
        do throws(FileFailure) {
            var hasMoved = state.nameMayHaveMoved || committed?.isReplaced == true
            if hasMoved { hasMoved = try fileLocation.nameHasMoved(from: open) }
            if let committed, !hasMoved {
                do throws(FileFailure) {
                    try readRecords(upTo: committed, &state)
                    return state.noteUse()
                } catch { guard error.isReplaced else { throw error } }
            }
            try self.open(creating: false, &state)
        } catch {
            // The open file has the last values that this process knows.
            state.noteOutage(unavailable(error))
        }
    }

    private func readRecords(upTo committed: CommittedEnd, _ state: inout State) throws(FileFailure) {
        guard committed != state.log?.committed else { return }
        if let records = try state.log?.readRecords(upTo: committed, sizeLimit: fileLocation.sizeLimit) {
            note(records, &state)
        }
    }

    private func note(_ records: Records, _ state: inout State) {
        let keys = records.keys
        guard !keys.isEmpty else { return }
        state.changes.add(keys)
        state.news = .records(records)
    }

    /// Opens the file that has the name now. If that fails, the next call tries again.
    ///
    /// - Returns: False if the file was open and is missing. A program that replaces the file, its
    ///   folder or a link may remove it first, so this is believed a second later.
    @discardableResult
    func open(creating: Bool, _ state: inout State) throws(FileFailure) -> Bool {
        let old = state.log
        state.nameMayHaveMoved = old != nil
        var new = try fileLocation.open(creating: creating && old == nil)
        if new == nil, let old {
            guard try fileLocation.nameHasMoved(from: old.open) else {
                throw FileFailure("another program has emptied it; the last known values stay in use")
            }
            guard let start = state.missingSince, start + .seconds(1) < .now else {
                state.noteOutage(
                    unavailable(FileFailure("it, its folder or a link to it is missing")), isMissing: true,
                    isReported: false)
                return false
            }
            if creating { new = try fileLocation.open(creating: true) }
        }
        state.log = new?.log
        state.noteUse()
        guard old != nil || new != nil else { return true }
        state.news = .all(new?.values ?? KeyTable())
        // Readers that found no file before must read the contents of this one.
        if old != nil || (new?.log.end ?? 0) > RecordFormat.headerLength { state.changes.add(nil) }
        // A process that replaces a file copies its records to a file of a later epoch. Any other
        // file comes from another program and may lack them.
        if let old, new.map({ $0.log.open.epoch <= old.open.epoch && !$0.log.contains(old) }) ?? true {
            state.noteLoss()
        }
        // The file may be in another folder.
        state.watch?.renew()
        if let log = new?.log, log.isDamaged, !creating {
            state.reports.append(
                SettingsFileError(
                    .unreadable,
                    reason: "\(fileLocation.path) is damaged from byte \(log.end) on; the next write keeps what is left"
                        + " there in a file beside it"))
        }
        return true
    }

    /// Cuts off what a dead writer or a power cut left behind the committed end, and takes back the
    /// end if committed records are missing. The caller holds the file lock.
    private func settle(_ state: inout State) throws(FileFailure) {
        guard var log = state.log else { return }
        var reason: String?
        let records = try log.settle(sizeLimit: fileLocation.sizeLimit) {
            damage, end, flushed throws(FileFailure) -> Void in
            reason = try fileLocation.setAside(damage, from: end, flushed: flushed)
        }
        state.log = log
        note(records, &state)
        if let reason { state.reports.append(SettingsFileError(.unreadable, reason: reason)) }
    }
}
