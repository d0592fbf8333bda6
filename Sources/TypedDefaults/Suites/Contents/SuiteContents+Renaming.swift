import SettingsFile

extension SuiteContents {
    /// Moves the value stored under a key to another key, unchanged.
    ///
    /// ```swift
    /// migrator.register("2.0: a longer name") { $0.rename("q", to: "quality") }
    /// ```
    ///
    /// If nothing is stored under `name`, this does nothing. If `newName` has a different value,
    /// that one stays, and the old one is copied to `<name>.unreadable`; the failure handler of the
    /// suite then receives a *conflict*. See <doc:ChangingYourSettings> for where to call this.
    public mutating func rename(_ name: String, to newName: String) { rename([(name, newName)]) }

    /// Renames all keys that begin with a prefix, as ``rename(_:to:)`` does.
    ///
    /// ```swift
    /// migrator.register("2.0: Preferences") { contents in
    ///     contents.rename(prefix: "com/example/camera/AppSettings/", to: "com/example/camera/Preferences/")
    /// }
    /// ```
    ///
    /// The ``history`` of each scope that begins with the prefix moves with its values. It is an
    /// error if another scope has values or a history, and its history is another one; see
    /// ``merge(_:)``. Copies of values that could not be read or renamed keep their keys, which end
    /// in `.unreadable` or `.unreadable-2`.
    ///
    /// - Parameters:
    ///   - prefix: The bytes that a key begins with.
    ///   - newPrefix: The bytes that replace them.
    public mutating func rename(prefix: String, to newPrefix: String) {
        func isMoved(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }
        func renamed(_ name: String) -> String {
            newPrefix + String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        }
        let (all, present) = (allHistories, keys + unreadableKeys)
        let names = present.filter { isMoved($0) && !SetAside.isCopy($0) }
        do throws(DefaultsError) {
            var (moved, others) = (Histories(isComplete: false), Histories(isComplete: true))
            for scope in Set(all.scopes).union([Histories.wholeSuite]) {
                let steps = try all.steps(of: scope)
                if isMoved(scope.string) { moved.set(steps, of: ByteString(renamed(scope.string))) }
                if !isMoved(scope.string) || scope == Histories.wholeSuite { others.set(steps, of: scope) }
            }
            let added = names.map { ByteString(renamed($0)) }
            let kept = Set(present.filter { !isMoved($0) }.map(ByteString.init)).subtracting(added)
            for scope in all.scopes where isMoved(scope.string) && scope != Histories.wholeSuite {
                historyEdits[scope] = []
            }
            for (scope, steps) in try others.changes(adding: moved, with: added, keeping: kept) {
                historyEdits[scope] = steps
            }
        } catch {
            fail(error)
        }
        rename(names.map { ($0, renamed($0)) })
    }

    /// - Parameter names: Each old name with a new one, which may be an old name as well.
    private mutating func rename(_ names: [(old: String, new: String)]) {
        var moved: [(old: String, new: String, value: PropertyList)] = []
        for (old, new) in names where !old.hasSameBytes(as: new) {
            if let value = stored(old) {
                moved.append((old, new, value))
            } else if isUnreadable(old) {
                fail(
                    DefaultsError(
                        .unreadable, key: old,
                        reason: "this version of the library cannot read the stored bytes, so the key is not renamed"))
            }
        }
        for (old, _, _) in moved { self[old] = nil }
        for (old, new, value) in moved {
            let present = stored(new)
            if present == nil, !isUnreadable(new) {
                self[new] = value
            } else if present != value {
                setAside(value, of: old, DefaultsError(.conflict, reason: "“\(new)” keeps its own value"))
            }
        }
    }

    /// Returns whether the backend itself cannot read the value stored under a key.
    private func isUnreadable(_ name: String) -> Bool { !isEdited(name) && base.isUnreadable(name) }
}
