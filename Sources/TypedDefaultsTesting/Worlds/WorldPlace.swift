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

    init(_ world: StoreWorld<Config>) throws {
        let shared = SharedBackend(world.contents)
        let gate = UnavailableBackend(
            base: FailingBackend(base: shared) { [isFull, interloper] call in
                // Before the writer has the lock, as in a read and a write that are not one step.
                if call.name == .beginWrite, let edit = interloper.withLock({ $0.take() }) {
                    do { try shared.updateFromOutside(edit) } catch {}
                }
                guard call.name == .commit, isFull.withLock({ $0 }) else { return nil }
                return DefaultsError(.unavailable, reason: "no space left on the disk of this world")
            })
        (self.shared, self.gate) = (shared, gate)
        let name = "StoreWorld-\(UUID().uuidString).defaults"
        file = world.place == .file ? FileManager.default.temporaryDirectory.appending(path: name) : nil
        suite = try file.map { try DefaultsSuite(file: $0) } ?? DefaultsSuite(backend: gate)
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

    func interrupt(with edit: @escaping Edit) { interloper.withLock { $0 = edit } }

    /// Returns how many failures the handler of the suite has received, and forgets them.
    func takeFailures() -> Int { failures.withLock { exchange(&$0, with: 0) } }
}
