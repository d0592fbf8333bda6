import Synchronization
import TypedDefaults

/// Stands for a server that several machines use, such as a database.
final class SettingsServer: Sendable {
    struct State: Sendable {
        var version: UInt64 = 1
        var values: [[UInt8]: PropertyList] = [:]
        /// The version in which each key changed last.
        var changes: [[UInt8]: UInt64] = [:]

        func keys(changedSince version: UInt64) -> [String] {
            changes.filter { $0.value > version }.keys.map { String(decoding: $0, as: UTF8.self) }
        }
    }
    private let state = Mutex(State())

    func read() -> State { state.withLock { $0 } }

    /// Stores the edits unless one of the keys has changed since a version; `nil` is any key.
    func store(
        _ edits: [(key: String, value: PropertyList?)], unlessChanged keys: [String]?, since version: UInt64
    ) -> (isStored: Bool, state: State) {
        state.withLock { state in
            let changed = state.keys(changedSince: version)
            guard keys.map({ Set($0).isDisjoint(with: changed) }) ?? changed.isEmpty else { return (false, state) }
            if !edits.isEmpty { state.version += 1 }
            for (key, value) in edits {
                state.values[Array(key.utf8)] = value
                state.changes[Array(key.utf8)] = state.version
            }
            return (true, state)
        }
    }
}

final class RemoteBackend: DefaultsBackend {
    private struct Copy {
        var state: SettingsServer.State
        var begin: UInt64 = 0
        var handler: (@Sendable (BackendEvent) -> Void)?
    }
    let server: SettingsServer
    private let copy: Mutex<Copy>
    /// Lets one thread at a time call the server, so that the copy never goes back.
    private let calls = Mutex(())

    init(_ server: SettingsServer) {
        self.server = server
        copy = Mutex(Copy(state: server.read()))
    }

    let traits = BackendTraits(readsMayLag: true)

    func value(forKey key: String) -> PropertyList? { copy.withLock { $0.state.values[Array(key.utf8)] } }

    func keys() -> [String] { copy.withLock { $0.state.values.keys.map { String(decoding: $0, as: UTF8.self) } } }

    func beginWrite() { copy.withLock { $0.begin = $0.state.version } }

    func commit(_ commit: BackendCommit) -> BackendCommit.Outcome {
        let (begin, own) = (copy.withLock { $0.begin }, commit.edits.map(\.key))
        let (isStored, version) = call(own) { server in
            server.store(
                commit.edits, unlessChanged: commit.reads.map { $0 + own },
                since: begin)
        }
        return isStored ? .committed(generation: version) : .changedMeanwhile
    }

    /// Makes reads return what the server has now. A timer calls this.
    func refresh() { _ = call([]) { server in (true, server.read()) } }

    /// Takes the server's answer as the copy, and reports the changes of other machines.
    private func call(
        _ own: [String], _ body: (SettingsServer) -> (isStored: Bool, state: SettingsServer.State)
    ) -> (isStored: Bool, version: UInt64) {
        let (answer, keys, handler) = calls.withLock { _ in
            let answer = body(server)
            return copy.withLock { copy in
                let keys = answer.state.keys(changedSince: copy.state.version)
                copy.state = answer.state
                return (answer, keys.filter { !answer.isStored || !own.contains($0) }, copy.handler)
            }
        }
        if !keys.isEmpty { handler?(.changed(keys: keys)) }
        return (answer.isStored, answer.state.version)
    }

    var generation: UInt64? { copy.withLock { $0.state.version } }

    func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        copy.withLock { ($0.state.keys(changedSince: generation), $0.state.version) }
    }

    func attach(_ handler: @escaping @Sendable (BackendEvent) -> Void) { copy.withLock { $0.handler = handler } }
}
