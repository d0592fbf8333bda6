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
///     contents[.quality] = try contents.read(.pictureQuality)
///     contents.remove(.pictureQuality)
/// }
/// try DefaultsSuite.standard.migrate(migrator)
/// ```
///
/// Call ``DefaultsSuite/migrate(_:)`` at launch, before the first use of the settings. The suite
/// records the names of the applied steps under the key `TypedDefaults-migrations`, so the edits of
/// each step are stored once. Never rename, remove or reorder a step that was released; add a new
/// one.
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
    ///     again on a backend whose reads may lag. On `UserDefaults` and iCloud, a step can run
    ///     again after a crash, so write it so that a second run changes nothing more.
    public mutating func register(
        _ name: String, _ body: @escaping @Sendable (inout SuiteContents) throws -> Void
    ) {
        precondition(!names.containsBytes(of: name), "two migrations have the name “\(name)”")
        steps.append(Step(name: name, body: body))
    }

    /// The names of the steps, in order.
    fileprivate var names: [String] { steps.map(\.name) }

    /// Applies the steps that were not applied to the contents before, and records them.
    ///
    /// Call this in a test of a migration, or on a copy of ``DefaultsSuite/contents()`` for a dry
    /// run. ``SuiteContents/difference(from:)`` then says what would change.
    ///
    /// - Returns: The names of the steps that were applied.
    /// - Throws: A ``Failure`` that names the step, or a ``DefaultsError`` if the record cannot be
    ///   read. Then the contents stay as they were.
    @discardableResult
    public func migrate(_ contents: inout SuiteContents) throws -> [String] {
        var migrated = contents
        var appliedNames: [String] = []
        for step in steps {
            // An error that occurred earlier concerns the record.
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
        contents.appliedMigrations.contains { !names.containsBytes(of: $0) }
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
            return "the migration “\(migration)” failed: \(reason)"
        }
        /// The ``description``.
        public var errorDescription: String? { description }
    }
}

extension DefaultsSuite {
    /// Applies the steps that were not applied to this suite before, as one commit together with
    /// their record.
    ///
    /// In a settings file, two processes never apply one step twice, and a crash leaves the
    /// settings from before or from after all due steps. Meanwhile, other writers wait for at most
    /// two seconds, so a step must not wait for anything. If no step is due, this is one read.
    ///
    /// `UserDefaults` and iCloud store key by key, and other processes do not wait. There the
    /// record is written last, so an interrupted step runs again, and two processes can apply one
    /// step at the same time; see ``DefaultsMigrator/register(_:_:)``.
    ///
    /// After ``removeAll()`` and on the first launch all steps are due, and the only value that
    /// they find is the record of the steps before.
    ///
    /// - Returns: The names of the steps that were applied.
    /// - Throws: A ``DefaultsMigrator/Failure`` that names the step, or a ``DefaultsError``. Then
    ///   nothing is written.
    @discardableResult
    public func migrate(_ migrator: DefaultsMigrator) throws -> [String] {
        let appliedNames = try appliedMigrations()
        if migrator.names.allSatisfy(appliedNames.containsBytes) { return [] }
        return try update { try migrator.migrate(&$0) }
    }
}

extension [String] {
    fileprivate func containsBytes(of name: String) -> Bool { contains { $0.utf8.elementsEqual(name.utf8) } }
}
