#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The error of a store or backend that does not keep a law: the law, what it promises, and what
/// happened instead.
///
/// ```
/// law 1, lastWriteWins: a value that was stored replaces the one before.
/// But after set(_:), get() returned sample 1, not sample 2.
/// ```
public struct LawViolation: Error, CustomStringConvertible, LocalizedError, Sendable {
    /// The number and the name of the law.
    public let law: String
    /// What the law promises.
    public let promise: String
    /// What happened instead. Values appear as their positions among the samples.
    public let outcome: String

    /// The law, the promise and the outcome.
    public var description: String { "\(law): \(promise). But \(outcome)." }
    /// The same as the description.
    public var errorDescription: String? { description }
}

/// An outcome that differs from what a law promises.
struct BrokenPromise: Error {
    let outcome: String
    init(_ outcome: String) { self.outcome = outcome }
}

func expect(_ isKept: Bool, _ outcome: @autoclosure () -> String) throws {
    if !isKept { throw BrokenPromise(outcome()) }
}

func expect<Value: Equatable>(_ what: String, _ actual: Value, is expected: Value) throws {
    try expect(actual == expected, "\(what) \(words(actual)), not \(words(expected))")
}

func words(_ value: Any) -> String {
    if let list = value as? [Any] { return "[\(list.map(words).joined(separator: ", "))]" }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return "\(value)" }
    return mirror.children.first.map { words($0.value) } ?? "nil"
}
