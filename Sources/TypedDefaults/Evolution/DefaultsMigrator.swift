#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The changes to the settings of an app from version to version, as named steps in order.
///
/// ```swift
/// var migrator = DefaultsMigrator()
/// migrator.register("2.0: one quality for all pictures") { contents in
///     guard contents.contains(.pictureQuality) else { return }
///     contents[.quality] = try contents.read(.pictureQuality)
///     contents.remove(.pictureQuality)
/// }
/// try DefaultsSuite.standard.migrate(migrator)
/// ```
///
/// Call ``DefaultsSuite/migrate(_:)`` at launch, before the first use of the settings. The suite
/// stores the names of the steps that it has been through, its ``SuiteContents/history``. Where a
/// commit is atomic (in settings files, in memory and in etcd), no step runs twice on one value.
/// Never rename, remove or reorder a step that was released; add a new one.
///
/// For a renamed key, a step calls ``SuiteContents/rename(_:to:)``.
///
/// A step works on a ``SuiteContents`` value, so a test needs no suite:
///
/// ```swift
/// var contents: SuiteContents = ["pictureQuality": 0.5]
/// try migrator.migrate(&contents)
/// #expect(contents[.quality] == 0.5)
/// ```
///
/// A step may find that a value is missing, because it was never stored or was removed. It may read
/// one key as two types. A value that the step has read or removes needs no copy. A value that it
/// overwrites unread and that the new type cannot read is set aside as usual, and so is a value of
/// which it has read a part as the default.
///
/// ## Topics
///
/// ### Steps
///
/// - ``init()``
/// - ``register(_:_:)``
/// - ``migrate(_:)``
/// - ``isSuperseded(by:)``
/// - ``Failure``
public struct DefaultsMigrator: Sendable {
    private struct Step: Sendable {
        let name: String
        let body: @Sendable (inout SuiteContents) throws -> Void
    }
    private var steps: [Step] = []

    /// Creates a migrator without steps.
    public init() {}

    /// Adds a step after all others.
    ///
    /// - Parameters:
    ///   - name: The name, which must be unique and must never change.
    ///   - body: Edits the settings. If it throws, none of the due steps is stored. It may run
    ///     again (see ``BackendTraits/readsMayLag``). On `UserDefaults`, a step can run again after
    ///     a crash, so write it so that a second run changes nothing more.
    public mutating func register(
        _ name: String, _ body: @escaping @Sendable (inout SuiteContents) throws -> Void
    ) {
        precondition(!names.containsBytes(of: name), "two migration steps have the name “\(name)”")
        steps.append(Step(name: name, body: body))
    }

    /// The names of the steps, in order.
    fileprivate var names: [String] { steps.map(\.name) }

    /// Applies the steps that the contents have not been through, by their
    /// ``SuiteContents/history``. Contents without one have all of them before them.
    ///
    /// Call this in a test of a migration, or on a copy of ``DefaultsSuite/contents()`` for a dry
    /// run. See <doc:ChangingYourSettings>.
    ///
    /// - Returns: The names of the steps that were applied.
    /// - Throws: A ``Failure`` that names the step, or a ``DefaultsError`` if the history cannot be
    ///   read. Then the contents stay as they were.
    @discardableResult
    public func migrate(_ contents: inout SuiteContents) throws -> [String] {
        var migrated = contents
        var appliedNames: [String] = []
        for step in steps {
            // An error that occurred earlier concerns the history.
            var hasBegun = false
            do {
                let wasDue = try migrated.migrate(step.name) { contents in
                    hasBegun = true
                    try step.body(&contents)
                }
                if wasDue { appliedNames.append(step.name) }
            } catch  where hasBegun {
                throw Failure(migration: step.name, error: error)
            }
        }
        contents = migrated
        return appliedNames
    }

    /// Returns whether a newer version of the program has migrated the contents, by a step that
    /// this version does not have.
    ///
    /// The settings then work as usual. Values of the newer version that this one cannot read count
    /// as unreadable, so they are set aside before they are overwritten.
    public func isSuperseded(by contents: SuiteContents) -> Bool {
        (contents.history ?? []).contains { !names.containsBytes(of: $0) }
    }
}

extension DefaultsMigrator {
    /// The error of a step.
    public struct Failure: LocalizedError, CustomStringConvertible {
        /// The name of the step.
        public let migration: String
        /// What the step threw, or why one of its values could not be stored.
        public let error: any Error

        /// The step and its error, without any value: of a foreign error only the type.
        public var description: String {
            let reason = (error as? DefaultsError)?.description ?? "it threw \(type(of: error))"
            return "the migration step “\(migration)” failed: \(reason)"
        }
        /// The ``description``.
        public var errorDescription: String? { description }
    }
}

extension DefaultsSuite {
    /// Applies the steps that this suite has not been through, as one commit together with their
    /// history.
    ///
    /// In a settings file, two processes never apply one step twice, and a crash leaves the
    /// settings from before or from after all due steps. Meanwhile, other writers wait for at most
    /// two seconds, so a step must not wait for anything. If no step is due, this is one read.
    ///
    /// `UserDefaults` stores key by key, and other processes do not wait. There the
    /// history is written last, so an interrupted step runs again, and two processes can apply one
    /// step at the same time; see ``DefaultsMigrator/register(_:_:)``.
    ///
    /// Where nothing is stored and the suite is read-only, this does nothing. See
    /// <doc:ChangingYourSettings#Where-to-call-migrate> for old settings in such a place.
    ///
    /// - Returns: The names of the steps that were applied.
    /// - Throws: A ``DefaultsMigrator/Failure`` that names the step, or a ``DefaultsError``. Then
    ///   nothing is written.
    @discardableResult
    public func migrate(_ migrator: DefaultsMigrator) throws -> [String] {
        do {
            if migrator.names.allSatisfy(try appliedMigrations().containsBytes) { return [] }
            return try update { try migrator.migrate(&$0) }
        } catch let error as DefaultsError where error.kind == .unavailable {
            guard isReadOnly, location == nil || (try? contents().isEmpty) == true
            else { throw error }
            return []
        }
    }

    /// Migrates this suite and the values, and adds the values to it, in place of values with the
    /// same keys, as one commit.
    ///
    /// ```swift
    /// let backup = try SuiteContents(json: Data(contentsOf: file))
    /// try suite.merge(backup, migrating: migrator)
    /// ```
    ///
    /// Values whose ``SuiteContents/history`` is not known count as values of the present version.
    /// Steps that only one side has been through, and that the migrator does not have, count as
    /// applied to both. ``onFailure`` then receives a *conflict* that names them: they are those of
    /// another or of a newer program, whose values may now be in two forms.
    ///
    /// - Throws: A ``DefaultsMigrator/Failure`` that names the step, or a ``DefaultsError``. Its
    ///   kind is ``DefaultsError/Kind/refused`` if the values in a scope inside this suite are of
    ///   another version: the migrator is not that of the scope. Then nothing is written.
    public func merge(_ contents: SuiteContents, migrating migrator: DefaultsMigrator) throws {
        let foreign = try update { present in
            try migrator.migrate(&present)
            var added = try migrator.migrated(contents, as: present)
            let (old, new) = (present.history ?? [], added.history ?? [])
            let further = new.filter { !old.containsBytes(of: $0) }
            (present.history, added.history) = (old + further, old + further)
            try present.merge(added)
            return further + old.filter { !new.containsBytes(of: $0) }
        }
        report(foreign: foreign, "only some of the values have")
    }

    /// Migrates the values, and makes the stored values exactly those, as one commit.
    ///
    /// Values whose ``SuiteContents/history`` is not known count as values of the present version.
    /// If they have been through steps that the migrator does not have, ``onFailure`` receives a
    /// *conflict*: they are those of another or of a newer program.
    ///
    /// - Throws: The errors of ``merge(_:migrating:)``. Then nothing is written.
    public func replaceContents(with contents: SuiteContents, migrating migrator: DefaultsMigrator) throws {
        let foreign = try update { present in
            try migrator.migrate(&present)
            let (added, old) = (try migrator.migrated(contents, as: present), present.history ?? [])
            // Nothing stays for which the old history is true.
            present.removeAll()
            present.history = []
            try present.merge(added)
            return (added.history ?? []).filter { !old.containsBytes(of: $0) }
        }
        report(foreign: foreign, "the values have")
    }

    private func report(foreign: [String], _ subject: String) {
        guard !foreign.isEmpty else { return }
        let names = foreign.map { "“\($0)”" }.joined(separator: ", ")
        report(
            DefaultsError(
                .conflict,
                reason: "\(subject) been through migrations of a newer version or another program: \(names)"))
    }
}

extension DefaultsMigrator {
    /// Returns the contents in the present form.
    fileprivate func migrated(_ contents: SuiteContents, as present: SuiteContents) throws -> SuiteContents {
        var (migrated, empty) = (contents, SuiteContents())
        // A damaged history is an error, and not an unknown one.
        try empty.merge(contents)
        if migrated.history == nil { migrated.history = present.history } else { try migrate(&migrated) }
        return migrated
    }
}

extension [String] {
    fileprivate func containsBytes(of name: String) -> Bool { contains { $0.utf8.elementsEqual(name.utf8) } }
}
