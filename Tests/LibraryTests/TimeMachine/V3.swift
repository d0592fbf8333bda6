import TypedDefaults

/// The third version, with two more migrations.
enum V3: AppVersion {
    static let number = 3

    struct Camera: DefaultConfig {
        static let key = "Camera"
        enum Mode: String, Codable { case photo, video, portrait, panorama }
        enum HDR: String, Codable { case off, on, auto }
        typealias Effect = V2.Camera.Effect
        var mode = Mode.photo
        var zoom = 1.0
        var effects: [Effect] = []
        var hdr = HDR.off
        var isNight = false
    }
    struct Profile: Codable {
        var author = ""
        var license = "none"
        var year: Int?
    }
    static let profile = DefaultKey("profile", default: Profile(), form: .jsonData)
    static let quality = DefaultKey("quality", default: 0.8)
    static let width = DefaultKey("width", default: 1280)
    static let height = DefaultKey("height", default: 720)

    static let migrator: DefaultsMigrator = {
        var migrator = V2.migrator
        migrator.register("3.0: width and height") { contents in
            guard case .string(let resolution)? = contents["resolution"] else { return }
            let sides = resolution.split(separator: "x").compactMap { Int($0) }
            if sides.count == 2 {
                contents[width] = sides[0]
                contents[height] = sides[1]
            }
            contents["resolution"] = nil
        }
        migrator.register("3.0: HDR is a choice") { contents in
            guard case .dictionary(var camera)? = contents["Camera"], case .bool(let isOn)? = camera["hdr"] else {
                return
            }
            camera["hdr"] = isOn ? "on" : "off"
            contents["Camera"] = .dictionary(camera)
        }
        return migrator
    }()
}

extension V3 {
    static func launch(_ suite: DefaultsSuite) throws { try suite.migrate(migrator) }

    static func read(_ suite: DefaultsSuite) -> [String: String] {
        let camera = PersistentStore<Camera>(in: suite).value
        let profile = suite[profile]
        let preferences = Preferences(suite)
        return [
            "mode": "\(camera.mode)", "zoom": "\(camera.zoom)", "hdr": "\(camera.hdr)", "night": "\(camera.isNight)",
            "effects": "\(camera.effects.map { "\($0.name) \($0.strength)" })", "author": profile.author,
            "license": profile.license, "year": profile.year.text, "name": preferences.name,
            "launches": "\(preferences.launches)", "quality": "\(suite[quality])", "width": "\(suite[width])",
            "height": "\(suite[height])", "grid": "\(V1.Wrappers(suite).showsGrid)",
        ]
    }

    static func use(_ suite: DefaultsSuite) throws {
        try PersistentStore<Camera>(in: suite).update { $0.zoom = 6.5 }
        try suite.update(profile) { $0.author = "three" }
        try Preferences(suite).$launches.update { $0 += 1 }
        suite[quality] = 0.3
    }

    static func fill(_ suite: DefaultsSuite) throws {
        let effects = [Camera.Effect(name: "noir", strength: 0.25)]
        try PersistentStore<Camera>(in: suite)
            .save(Camera(mode: .panorama, zoom: 4.5, effects: effects, hdr: .auto, isNight: true))
        suite[profile] = Profile(author: "Edsger", license: "MIT", year: 1968)
        let preferences = Preferences(suite)
        preferences.name = "edsger"
        preferences.launches = 11
        suite[quality] = 0.9
        suite[width] = 800
        suite[height] = 600
        V1.Wrappers(suite).showsGrid = true
    }
}
