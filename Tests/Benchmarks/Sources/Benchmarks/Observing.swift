import Foundation
import TypedDefaults

/// What observers add to a `set`.
@MainActor func compareObservers() throws {
    for (isFile, asks) in [(false, false), (true, false), (false, true), (true, true)] {
        let name =
            "set with one observer\(asks ? " that asks for the value" : ""), \(isFile ? "on a file" : "in memory")"
        try compare(name) { comparison in
            @MainActor func makeStore() throws -> PersistentStore<CameraConfig> {
                PersistentStore(in: isFile ? try Files.makeSettings([]) : .inMemory())
            }
            let unobserved = try makeStore()
            comparison.add(.limit, "no observer") { for index in 0..<$0 { unobserved.set(CameraConfig(shots: index)) } }
            let store = try makeStore()
            let token =
                if asks { store.observe { blackHole($0.newValue) } } else { store.observe { blackHole($0.kind) } }
            comparison.add(.ours, "PersistentStore") { times in
                for index in 0..<times { store.set(CameraConfig(shots: index)) }
                withExtendedLifetime(token) {}
            }
        }
    }
    compare("set in memory with 10,000 observers") { comparison in
        let closures: [@Sendable (CameraConfig?) -> Void] = (0..<10_000).map { _ in { blackHole($0) } }
        comparison.add(.limit, "call 10,000 closures") { times in
            for index in 0..<times {
                let value = CameraConfig(shots: index)
                for closure in closures { closure(value) }
            }
        }
        let store = PersistentStore<CameraConfig>(in: .inMemory())
        let tokens = (0..<10_000).map { _ in store.observe { blackHole($0.newValue) } }
        comparison.add(.ours, "PersistentStore") { times in
            for index in 0..<times { store.set(CameraConfig(shots: index)) }
            withExtendedLifetime(tokens) {}
        }
    }
}

/// From before a `set` in this process to the call of an observer in another one. The changes are
/// some milliseconds apart, as those of a person are. No peer notifies other processes.
@MainActor func compareObservingProcesses() throws {
    let count = Run.isShort ? 20 : 300
    try compare("observer in another process", statistics: [", p50", ", p99"], count: count, rounds: 3) { comparison in
        func add(_ role: Role, _ name: String, _ mode: String, _ path: String, set: @escaping @Sendable (Int) -> Void) {
            comparison.addFigures(role, name) { count in
                let latencies = Child.run(mode, [path]) {
                    for _ in 0..<count {
                        set(now())
                        usleep(6_000)
                    }
                    // Ends the other process.
                    set(-1)
                }
                precondition(!latencies.isEmpty)
                return [latencies.percentile(0.5), latencies.percentile(0.99)]
            }
        }
        let path = Files.makePath()
        let limit = LimitFile(path: path)
        add(.limit, "inotify, read, pread", "inotify", path) { limit.write($0) }
        let suite = try Files.makeSettings([])
        let store = PersistentStore<CameraConfig>(in: suite)
        add(.ours, "PersistentStore", "observe", suite.location!) { store.set(CameraConfig(shots: $0)) }
    }
}
