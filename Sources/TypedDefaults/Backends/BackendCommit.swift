/// The edits that a suite stores in a backend at once, and the keys that they depend on.
///
/// ## Topics
///
/// ### The commit
///
/// - ``edits``
/// - ``reads``
/// - ``Outcome``
///
/// ### Creating a commit
///
/// - ``init(_:reads:)``
public struct BackendCommit: Sendable {
    /// The keys with their new values. A `nil` value removes the key, and no key occurs twice.
    ///
    /// A commit without edits asks whether ``reads`` are unchanged.
    public let edits: [(key: String, value: PropertyList?)]
    /// The keys that were read since ``DefaultsBackend/beginWrite()``, besides those of the edits,
    /// on which every commit depends; `nil` for all keys.
    ///
    /// Empty unless ``BackendTraits/readsMayLag`` is true.
    public let reads: [String]?

    /// Creates a commit. One that stands for another commit depends on the same reads.
    public init(_ edits: [(key: String, value: PropertyList?)], reads: [String]?) {
        (self.edits, self.reads) = (edits, reads)
    }

    /// The outcome of a commit that did not fail.
    public enum Outcome: Sendable, Equatable {
        /// All edits are stored. Contains the ``DefaultsBackend/generation`` that the commit began;
        /// `nil` if the backend has none, or shows the commit together with other changes.
        case committed(generation: UInt64? = nil)
        /// Another writer has changed what the commit depends on since
        /// ``DefaultsBackend/beginWrite()``, and nothing is stored.
        ///
        /// The suite begins the write again, so return this once a read returns the newer value.
        case changedMeanwhile
    }
}
