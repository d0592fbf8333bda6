/// What a change means beyond the value that it ends with.
///
/// It is a task-local value, so that it gets through decorators and the stores of a program. It
/// holds for one type, so that it reaches no other setting that such a store writes.
enum WriteIntent {
    /// The value is stored even if it equals the one that is read in place of a missing one.
    case assigning
    /// The entries that change are no longer stored.
    case forgetting

    @TaskLocal private static var current: (intent: WriteIntent, type: ObjectIdentifier)?

    static func current(for type: Any.Type) -> WriteIntent? {
        guard let current, current.type == ObjectIdentifier(type) else { return nil }
        return current.intent
    }

    /// Calls observers, whose own writes have an intent of their own.
    static func withNone(_ body: () -> Void) {
        if current == nil { body() } else { $current.withValue(nil, operation: body) }
    }

    /// Runs a write with this intent.
    func with<Result>(_ type: Any.Type, _ write: () throws -> Result) rethrows -> Result {
        try Self.$current.withValue((self, ObjectIdentifier(type)), operation: write)
    }
}
