import SettingsFile
public import TypedDefaults

/// Expects that a function makes exactly these changes to the settings in a suite, in this order.
///
/// ```swift
/// expectChanges(of: suite, [["quality": 0.5], ["mode": nil, "count": 3]]) {
///     model.useLowQuality()
///     model.reset()
/// }
/// ```
///
/// Each dictionary is one commit: the keys whose values it changes, and the new values; `nil` for a
/// removed one. The failure lists the changes that are missing, and those that were made besides.
/// Changes by other threads and processes count too, if the function waits for them. The values are
/// those at the moment of delivery: an observer that writes the same key has changed them again.
@discardableResult
public func expectChanges<Result>(
    of suite: DefaultsSuite, _ expected: [[String: PropertyList?]],
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ body: () throws -> Result
) rethrows -> Result {
    let log = ChangeLog(suite)
    defer { log.check(expected, CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) }
    return try body()
}

/// Expects that an asynchronous function makes exactly these changes to the settings in a suite, in
/// this order.
@discardableResult
public func expectChanges<Result>(
    of suite: DefaultsSuite, _ expected: [[String: PropertyList?]],
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async rethrows -> Result {
    let log = ChangeLog(suite)
    defer { log.check(expected, CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) }
    return try await body()
}

/// The changes of a suite since it was made.
private final class ChangeLog: Sendable {
    private let suite: DefaultsSuite
    private let changes: Locked<[[String: PropertyList?]]>
    private let token: ObservationToken

    init(_ suite: DefaultsSuite) {
        let changes = Locked<[[String: PropertyList?]]>([])
        (self.suite, self.changes) = (suite, changes)
        token = suite.observeAll { change in
            let contents = (try? suite.contents()) ?? [:]
            let values = change.keys.map { ($0, contents[$0]) }
            changes.withLock { $0.append(Dictionary(values) { first, _ in first }) }
        }
    }

    func check(_ expected: [[String: PropertyList?]], _ site: CallSite) {
        suite.waitForHandlers()
        token.cancel()
        let found = changes.withLock { $0 }
        let difference = found.difference(from: expected)
        guard !difference.isEmpty else { return }
        let lines = difference.map { part in
            switch part {
            case .remove(let index, let change, _): "change \(index + 1) is missing: \(Self.text(change))"
            case .insert(let index, let change, _): "change \(index + 1) is not expected: \(Self.text(change))"
            }
        }
        recordIssue(
            "changes expected: \(expected.count), changes made: \(found.count):\n" + lines.joined(separator: "\n"),
            at: site)
    }

    private static func text(_ change: [String: PropertyList?]) -> String {
        change.sorted { $0.key < $1.key }
            .map { "\($0.key) = \($0.value.map { $0.jsonText } ?? "nil")" }
            .joined(separator: ", ")
    }
}
