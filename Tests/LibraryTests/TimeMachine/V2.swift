import TypedDefaults

/// The second version: renames, and everything that needs no migration.
enum V2: AppVersion {
    static let number = 2

    struct Camera: DefaultConfig {
        static let key = "Camera"
        enum Mode: String, Codable { case photo, video, portrait }
        // A config type, because an element that lacks `strength` needs a default for it.
        struct Effect: DefaultConfig {
            static let key = "Effect"
            var name = ""
            var strength = 1.0
        }
        var mode = Mode.photo
        var zoom = 1.0
        var effects: [Effect] = []
        var hdr = false
    }
    struct Profile: Codable {
        var author = ""
        var license = "none"
    }
    static let profile = DefaultKey("profile", default: Profile(), form: .jsonData)
    static let quality = DefaultKey("quality", default: 0.8)
    static let resolution = DefaultKey("resolution", default: "1280x720")

    static let migrator: DefaultsMigrator = {
        var migrator = DefaultsMigrator()
        migrator.register("2.0: longer names") { contents in
            contents.rename("q", to: "quality")
            contents.rename(prefix: "app/AppSettings/", to: "app/Preferences/")
            contents.rename("app/Preferences/userName", to: "app/Preferences/name")
        }
        return migrator
    }()
}

/// The keys are those of a config class of `TypedDefaultsRecipes`, which stored the fixture.
struct Preferences {
    @UserDefault var name: String
    @UserDefault var launches: Int
    init(_ suite: DefaultsSuite) {
        _name = UserDefault(wrappedValue: "", "app/Preferences/name", in: suite)
        _launches = UserDefault(wrappedValue: 0, "app/Preferences/launches", in: suite)
    }
}

extension V2 {
    static func launch(_ suite: DefaultsSuite) throws { try suite.migrate(migrator) }

    static func read(_ suite: DefaultsSuite) -> [String: String] {
        let camera = PersistentStore<Camera>(in: suite).value
        let preferences = Preferences(suite)
        return [
            "mode": "\(camera.mode)", "zoom": "\(camera.zoom)", "hdr": "\(camera.hdr)",
            "effects": "\(camera.effects.map { "\($0.name) \($0.strength)" })", "author": suite[profile].author,
            "license": suite[profile].license, "name": preferences.name, "launches": "\(preferences.launches)",
            "quality": "\(suite[quality])", "resolution": suite[resolution], "grid": "\(V1.Wrappers(suite).showsGrid)",
        ]
    }

    static func use(_ suite: DefaultsSuite) throws {
        try PersistentStore<Camera>(in: suite).update { $0.zoom = 5.5 }
        try suite.update(profile) { $0.author = "two" }
        try Preferences(suite).$launches.update { $0 += 1 }
        suite[quality] = 0.2
    }

    static func fill(_ suite: DefaultsSuite) throws {
        let effects = [Camera.Effect(name: "sepia", strength: 0.5)]
        try PersistentStore<Camera>(in: suite)
            .save(Camera(mode: .portrait, zoom: 2.5, effects: effects, hdr: true))
        suite[profile] = Profile(author: "Grace", license: "CC0")
        let preferences = Preferences(suite)
        preferences.name = "grace"
        preferences.launches = 9
        suite[quality] = 0.6
        suite[resolution] = "3840x2160"
        V1.Wrappers(suite).showsGrid = true
    }
}
