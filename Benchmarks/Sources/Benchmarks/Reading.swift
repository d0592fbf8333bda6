import Foundation
import TypedDefaults

extension Comparison {
    fileprivate mutating func addLimit() {
        let config = LockedConfig()
        add("limit: lock a mutex, copy the struct") { for _ in 0..<$0 { blackHole(config.get()) } }
    }

    @MainActor fileprivate mutating func addStores(_ place: Place) {
        let store = place.makeStores(count: 1)[0]
        let box = AnyStore(store)
        add("PersistentStore, \(place.name)", goal: place.goals?.store) { for _ in 0..<$0 { blackHole(store.get()) } }
        add("AnyStore, \(place.name)", goal: place.goals?.box) { for _ in 0..<$0 { blackHole(box.get()) } }
    }
}

@MainActor func compareReading() {
    var comparison = Comparison("Get a five-field config")
    comparison.addLimit()
    for place in Place.all { comparison.addStores(place) }
    let json = UserDefaultsWithJSON()
    comparison.add("UserDefaults and JSONDecoder") { for _ in 0..<$0 { blackHole(json.get()) } }
    comparison.run()
}

@MainActor func compareReadingOnThreads() {
    for threads in [1, 2, 8] {
        var comparison = Comparison("Get on \(threads) thread(s), time per get", threads: threads)
        comparison.addLimit()
        for place in Place.all { comparison.addStores(place) }
        comparison.run()
    }
}

@MainActor func compareReadingOneOfMany() {
    var comparison = Comparison("Get one of many keys")
    comparison.addLimit()
    for place in Place.all {
        for keys in place.keyCounts {
            let store = place.makeStores(count: keys)[keys / 2]
            comparison.add("PersistentStore, \(place.name), \(keys) keys", goal: place.goals?.store) {
                for _ in 0..<$0 { blackHole(store.get()) }
            }
        }
    }
    comparison.run()
}

/// This has no goal, because it also measures cache misses, and the retains when an array returns a
/// store.
@MainActor func compareReadingManyInTurn() {
    for keys in [10, 1_000, 10_000] {
        var comparison = Comparison("Get \(keys) keys in turn")
        let limits = (0..<keys).map { _ in LockedConfig() }
        comparison.add("limit: lock a mutex, copy the struct") {
            var index = 0
            for _ in 0..<$0 {
                blackHole(limits[index].get())
                index = index + 1 == keys ? 0 : index + 1
            }
        }
        for place in Place.all where place.keyCounts.contains(keys) {
            let stores = place.makeStores(count: keys)
            comparison.add("PersistentStore, \(place.name)") {
                var index = 0
                for _ in 0..<$0 {
                    blackHole(stores[index].get())
                    index = index + 1 == keys ? 0 : index + 1
                }
            }
        }
        comparison.run()
    }
}

@MainActor func compareReadingWhileWriting() {
    for place in Place.all {
        let stores = place.makeStores(count: 2)
        let (a, b) = (stores[0], stores[1])
        var comparison = Comparison("Get B, \(place.name)")
        comparison.add("no writer") { for _ in 0..<$0 { blackHole(b.get()) } }
        comparison.add("another thread writes A") { count in
            let writer = Thread {
                while !Thread.current.isCancelled {
                    a.set(CameraConfig.pair.0)
                    a.set(CameraConfig.pair.1)
                }
            }
            writer.start()
            for _ in 0..<count { blackHole(b.get()) }
            writer.cancel()
        }
        comparison.run()
    }
}
