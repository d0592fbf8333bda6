import TypedDefaults

private let suite = DefaultsSuite.inMemory()
extension DefaultKey<Int> {
    fileprivate static let count = DefaultKey("count", default: 0)
}
private struct Settings {
    var plain = 0
    @UserDefault("count", in: suite) var count = 0
    static let count = UserDefault("count", default: 0, in: suite)
}
private final class Config: StorableConfig {
    @Stored("count") var count = 0
}
private struct Namespace: ObjectUserDefaultable {
    enum ObjectDefaultKey: String { case count }
}

/// Measures what each form of declaration adds to a store.
@MainActor func compareDeclaring() {
    let store = UserDefault(.count, in: suite).store
    var comparison = Comparison("Get a number, in memory")
    comparison.add("PersistentStore") { for _ in 0..<$0 { blackHole(store.get()) } }
    comparison.add("a plain stored property") { times in
        let settings = Settings()
        for _ in 0..<times { blackHole(settings.plain) }
    }
    comparison.add("@UserDefault") { times in
        let settings = Settings()
        for _ in 0..<times { blackHole(settings.count) }
    }
    comparison.add("static let UserDefault") { for _ in 0..<$0 { blackHole(Settings.count.value) } }
    comparison.add("@Stored of a StorableConfig") { times in
        let config = Config(in: suite)
        for _ in 0..<times { blackHole(config.count) }
    }
    comparison.add("suite[.count]") { for _ in 0..<$0 { blackHole(suite[.count]) } }
    comparison.add("KeyNamespaceable") {
        for _ in 0..<$0 { blackHole(Namespace.object(Int.self, forKey: .count, source: suite)) }
    }
    comparison.run()

    comparison = Comparison("Set a number, in memory, a change each time")
    comparison.add("PersistentStore") { for index in 0..<$0 { store.set(index) } }
    comparison.add("a plain stored property") { times in
        var settings = Settings()
        for index in 0..<times {
            settings.plain = index
            blackHole(settings.plain)
        }
    }
    comparison.add("@UserDefault") { times in
        let settings = Settings()
        for index in 0..<times { settings.count = index }
    }
    comparison.add("static let UserDefault") { for index in 0..<$0 { Settings.count.value = index } }
    comparison.add("@Stored of a StorableConfig") { times in
        let config = Config(in: suite)
        for index in 0..<times { config.count = index }
    }
    comparison.add("suite[.count]") { for index in 0..<$0 { suite[.count] = index } }
    comparison.add("KeyNamespaceable") {
        for index in 0..<$0 { Namespace.set(index, forKey: .count, source: suite) }
    }
    comparison.run()

    comparison = Comparison("Create a type with settings")
    comparison.add("PersistentStore, one setting") {
        for _ in 0..<$0 { blackHole(UserDefault(.count, in: suite).store) }
    }
    comparison.add("a struct of one @UserDefault") { for _ in 0..<$0 { blackHole(Settings()) } }
    comparison.add("a StorableConfig of one @Stored") { for _ in 0..<$0 { blackHole(Config(in: suite)) } }
    comparison.run()
}
