import TypedDefaults

@MainActor func compareWriting() {
    var comparison = Comparison("Set a five-field config, a change each time")
    let (first, second) = CameraConfig.pair
    comparison.add("one encode: PropertyList(encoding:)") {
        for index in 0..<$0 { blackHole(try? PropertyList(encoding: index & 1 == 0 ? first : second)) }
    }
    for place in Place.all {
        let store = place.makeStores(count: 1)[0]
        let box = AnyStore(store)
        comparison.add("PersistentStore, \(place.name)") {
            for index in 0..<$0 { store.set(index & 1 == 0 ? first : second) }
        }
        comparison.add("AnyStore, \(place.name)") {
            for index in 0..<$0 { box.set(index & 1 == 0 ? first : second) }
        }
    }
    let json = UserDefaultsWithJSON()
    comparison.add("UserDefaults and JSONEncoder") {
        for index in 0..<$0 { json.set(index & 1 == 0 ? first : second) }
    }
    comparison.run()
}
