import SettingsFile
import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The suite of a world, and the other process that writes to it.
final class WorldPlace<Config: DefaultConfig>: Sendable {
    typealias Edit = @Sendable (inout SuiteContents) -> Void

    let suite: DefaultsSuite
    private let shared: SharedBackend
    private let gate: UnavailableBackend
    private let file: URL?
    private let isFull = Locked(false)
    /// What the other process writes when the next write begins.
    private let interloper = Locked<Edit?>(nil)
    private let failures = Locked(0)
    private let refusals = Locked(0)

    init(_ world: StoreWorld<Config>) throws {
        let shared = SharedBackend(world.contents)
        let gate = UnavailableBackend(base: shared)
        let backend = FailingBackend(base: gate) { [isFull, interloper, refusals] call in
            switch call {
            case .beginWrite:
                // Before the writer has the lock, as in a read and a write that are not one step.
                if let edit = interloper.withLock({ $0.take() }) {
                    do { try shared.updateFromOutside(edit) } catch {}
                }
                if !gate.isAvailable { refusals.withLock { $0 += 1 } }
            case .commit(let values) where !values.isEmpty && isFull.withLock { $0 }:
                refusals.withLock { $0 += 1 }
                return DefaultsError(.unavailable, reason: "no space left on the disk of this world")
            default: break
            }
            return nil
        }
        (self.shared, self.gate) = (shared, gate)
        let name = "StoreWorld-\(UUID().uuidString).defaults"
        file = world.place == .file ? FileManager.default.temporaryDirectory.appending(path: name) : nil
        suite = try file.map { try DefaultsSuite(file: $0) } ?? DefaultsSuite(backend: backend)
        gate.isAvailable = world.place != .unavailableAtFirst
        isFull.withLock { $0 = world.place == .fullDisk }
        suite.onFailure = { [failures] _ in failures.withLock { $0 += 1 } }
        if file != nil { try suite.replaceContents(with: world.contents) }
    }

    deinit { if let file { try? FileManager.default.removeItem(at: file) } }

    var isRefusing: Bool { !gate.isAvailable || isFull.withLock { $0 } }
    func stopRefusing() {
        isFull.withLock { $0 = false }
        gate.isAvailable = true
    }

    /// Changes the values as another process does.
    func edit(_ body: (inout SuiteContents) -> Void) throws {
        if file == nil { try shared.updateFromOutside(body) } else { try suite.update(body) }
    }

    func contents() throws -> SuiteContents {
        var contents: SuiteContents = [:]
        try edit { contents = $0 }
        return contents
    }

    /// Lets the other process write when the next write begins.
    func interrupt(with edit: @escaping Edit) { interloper.withLock { $0 = edit } }

    /// Returns whether the other process has written.
    func endInterruption() -> Bool { interloper.withLock { $0.take() } == nil }

    var hasRefused: Bool { refusals.withLock { $0 } > 0 }

    /// Returns how many failures the handler of the suite has received, and forgets them.
    func takeFailures() -> Int { failures.withLock { exchange(&$0, with: 0) } }
}
