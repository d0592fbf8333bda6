import TypedDefaults

/// The first version.
enum V1: AppVersion {
    static let number = 1

    struct Camera: DefaultConfig {
        static let key = "Camera"
        enum Mode: String, Codable { case photo, video }
        struct Effect: Codable { var name: String }
        var mode = Mode.photo
        var zoom = 1
        var beeps = true
        var effects: [Effect] = []
    }
    struct Profile: Codable {
        var author = ""
    }
    static let profile = DefaultKey("profile", default: Profile(), form: .jsonData)
    static let quality = DefaultKey("q", default: 0.8)
    static let resolution = DefaultKey("resolution", default: "1280x720")

    struct Wrappers {
        @UserDefault var showsGrid: Bool
        init(_ suite: DefaultsSuite) { _showsGrid = UserDefault(wrappedValue: false, "showsGrid", in: suite) }
    }
}

/// The keys are those of a config class of `TypedDefaultsRecipes`, which stored the fixture.
private struct AppSettings {
    @UserDefault var userName: String
    @UserDefault var launches: Int
    init(_ suite: DefaultsSuite) {
        _userName = UserDefault(wrappedValue: "", "app/AppSettings/userName", in: suite)
        _launches = UserDefault(wrappedValue: 0, "app/AppSettings/launches", in: suite)
    }
}

extension V1 {
    static func read(_ suite: DefaultsSuite) -> [String: String] {
        let camera = PersistentStore<Camera>(in: suite).value
        let settings = AppSettings(suite)
        return [
            "mode": "\(camera.mode)", "zoom": "\(camera.zoom)", "beeps": "\(camera.beeps)",
            "effects": "\(camera.effects.map(\.name))", "author": suite[profile].author, "name": settings.userName,
            "launches": "\(settings.launches)", "quality": "\(suite[quality])", "resolution": suite[resolution],
            "grid": "\(Wrappers(suite).showsGrid)",
        ]
    }

    static func use(_ suite: DefaultsSuite) throws {
        try PersistentStore<Camera>(in: suite).update { $0.zoom = 5 }
        try suite.update(profile) { $0.author = "one" }
        try AppSettings(suite).$launches.update { $0 += 1 }
        suite[quality] = 0.1
    }

    static func fill(_ suite: DefaultsSuite) throws {
        let effects = [Camera.Effect(name: "sepia"), Camera.Effect(name: "noir")]
        try PersistentStore<Camera>(in: suite).save(Camera(mode: .video, zoom: 3, beeps: false, effects: effects))
        suite[profile] = Profile(author: "Ada")
        let settings = AppSettings(suite)
        settings.userName = "ada"
        settings.launches = 7
        suite[quality] = 0.5
        suite[resolution] = "1920x1080"
        Wrappers(suite).showsGrid = true
    }
}
