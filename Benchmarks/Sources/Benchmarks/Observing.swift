import Foundation
import TypedDefaults

@MainActor func compareObservers() {
    let count = 10_000
    let (first, second) = CameraConfig.pair

    // The lower limit: one closure call for each observer.
    var comparison = Comparison("Set in memory, a change each time, with 10,000 observers")
    let closures: [@Sendable (CameraConfig?) -> Void] = (0..<count).map { _ in { blackHole($0) } }
    comparison.add("limit: an array of closures") { times in
        for index in 0..<times {
            let value = index & 1 == 0 ? first : second
            for closure in closures { closure(value) }
        }
    }
    let store = PersistentStore<CameraConfig>(in: .inMemory())
    let tokens = (0..<count).map { _ in store.observe { blackHole($0.newValue) } }
    comparison.add("PersistentStore", goal: 3) { times in
        for index in 0..<times { store.set(index & 1 == 0 ? first : second) }
    }
    comparison.run()
    withExtendedLifetime(tokens) {}

    comparison = Comparison("Set in memory, a change each time, observers of other keys")
    for others in [0, count] {
        let suite = DefaultsSuite.inMemory()
        let store = PersistentStore<CameraConfig>(in: suite)
        let tokens = (0..<others).map { PersistentStore<CameraConfig>(in: suite, key: "\($0)").observe { _ in } }
        comparison.add("\(others) observers") { times in
            for index in 0..<times { store.set(index & 1 == 0 ? first : second) }
            withExtendedLifetime(tokens) {}
        }
    }
    comparison.run()

    compareObservingExternalChanges()

    comparison = Comparison("Subscribe and cancel")
    comparison.add("PersistentStore") { for _ in 0..<$0 { store.observe { _ in }.cancel() } }
    comparison.run()
}

/// Another backend on the file acts as another process. A `set` directly after another one waits
/// until the watch is armed again.
@MainActor private func compareObservingExternalChanges() {
    let (first, second) = CameraConfig.pair
    func makeStore(_ path: String) -> PersistentStore<CameraConfig> {
        PersistentStore(in: DefaultsSuite(backend: FileBackend(path: path)))
    }
    let path = Place.makePath("defaults")
    let (writer, observed) = (makeStore(path), makeStore(path))
    let change = DispatchSemaphore(value: 0)
    let token = observed.observe { _ in change.signal() }
    var comparison = Comparison("Set by another process, until an observer is called")
    comparison.add("PersistentStore, file", goal: .nanoseconds(5_000_000)) { count in
        let start = ContinuousClock.now
        for _ in 0..<count {
            // A different value each time, because observers only receive changes.
            writer.set(CameraConfig(shots: .random(in: .min ... .max)))
            change.wait()
        }
        return ContinuousClock.now - start
    }
    comparison.run()

    comparison = Comparison("Set on disk, a change each time, while another process watches")
    let unwatched = makeStore(Place.makePath("defaults"))
    comparison.add("not watched") { for index in 0..<$0 { unwatched.set(index & 1 == 0 ? first : second) } }
    comparison.add("watched") { for index in 0..<$0 { writer.set(index & 1 == 0 ? first : second) } }
    comparison.run()
    token.cancel()
}
