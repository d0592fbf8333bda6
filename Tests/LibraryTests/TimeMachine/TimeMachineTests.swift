import Foundation
import TestSupport
import Testing
import TypedDefaults

/// The third version of the app in *Changing your settings*, which reads what each version has
/// stored. The library of that day wrote the fixtures, which never change.
struct TimeMachineTests {
    struct Camera: DefaultConfig {
        static let key = "Camera"
        enum Mode: String, Codable { case photo, video, portrait, panorama }
        enum HDR: String, Codable { case off, on, auto }
        // A config type, because an element that lacks `strength` needs a default for it.
        struct Effect: DefaultConfig {
            static let key = "Effect"
            var name = ""
            var strength = 1.0
        }
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
    private static let width = DefaultKey("width", default: 1280)
    private static let height = DefaultKey("height", default: 720)

    private static let migrator: DefaultsMigrator = {
        var migrator = DefaultsMigrator()
        migrator.register("2.0: longer names") { contents in
            contents.rename("q", to: "quality")
            contents.rename(prefix: "app/AppSettings/", to: "app/Preferences/")
            contents.rename("app/Preferences/userName", to: "app/Preferences/name")
        }
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

    private func read(_ suite: DefaultsSuite) -> [String: String] {
        let camera = PersistentStore<Camera>(in: suite).value
        let profile = suite[DefaultKey("profile", default: Profile(), form: .jsonData)]
        return [
            "mode": "\(camera.mode)", "zoom": "\(camera.zoom)", "hdr": "\(camera.hdr)", "night": "\(camera.isNight)",
            "effects": "\(camera.effects.map { "\($0.name) \($0.strength)" })", "author": profile.author,
            "license": profile.license, "year": profile.year.map { "\($0)" } ?? "nil",
            "name": suite[DefaultKey("app/Preferences/name", default: "")],
            "launches": "\(suite[DefaultKey("app/Preferences/launches", default: 0)])",
            "quality": "\(suite[DefaultKey("quality", default: 0.8)])", "width": "\(suite[Self.width])",
            "height": "\(suite[Self.height])", "grid": "\(suite[DefaultKey("showsGrid", default: false)])",
        ]
    }

    private static let expected = [
        [
            "mode": "video", "zoom": "3.0", "hdr": "off", "night": "false", "effects": #"["sepia 1.0", "noir 1.0"]"#,
            "author": "Ada", "license": "none", "year": "nil", "name": "ada", "launches": "7", "quality": "0.5",
            "width": "1920", "height": "1080", "grid": "true",
        ],
        [
            "mode": "portrait", "zoom": "2.5", "hdr": "on", "night": "false", "effects": #"["sepia 0.5"]"#,
            "author": "Grace", "license": "CC0", "year": "nil", "name": "grace", "launches": "9", "quality": "0.6",
            "width": "3840", "height": "2160", "grid": "true",
        ],
        [
            "mode": "panorama", "zoom": "4.5", "hdr": "auto", "night": "true", "effects": #"["noir 0.25"]"#,
            "author": "Edsger", "license": "MIT", "year": "1968", "name": "edsger", "launches": "11", "quality": "0.9",
            "width": "800", "height": "600", "grid": "true",
        ],
    ]

    @Test(arguments: zip(1...3, expected))
    func theLastVersionReadsWhatEachHasStored(version: Int, expected: [String: String]) throws {
        let file = try makeFile()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/version-\(version).defaults")
        try FileManager.default.copyItem(at: fixture, to: file)
        let suite = try DefaultsSuite(file: file)
        try suite.migrate(Self.migrator)
        #expect(read(suite) == expected)
        #expect(try suite.keys().filter { $0.contains(".unreadable") } == [], "reading copies nothing")
    }
}
