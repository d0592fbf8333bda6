//: # TypedDefaults
//:
//: Run it twice: the second run shows what the first one stored. In Xcode, open the playground from
//: within the package. On every platform, call `swift run Tour`.

import TypedDefaults

//: **Declare** a config struct. Its initial values are the defaults.
struct CameraConfig: DefaultConfig {
    static let key = "CameraConfig"
    enum Size: String, Codable { case large, medium, small }
    var savesToCameraRoll = true
    var size = Size.medium
}

//: **Store** it. The settings of a program are in `DefaultsSuite.standard`; the tour has a suite of
//: its own.
let suite = try DefaultsSuite(name: "Tour")
let store = PersistentStore<CameraConfig>(in: suite)
if let config = store.get() {
    print("Stored by an earlier run: size \(config.size), saves to camera roll: \(config.savesToCameraRoll)")
} else {
    print("Nothing is stored yet: this is the first run.")
}

//: **Change** it in one step, while other writers wait. It begins with the default.
try store.update { config in
    config.size =
        switch config.size {
        case .small: .medium
        case .medium: .large
        case .large: .small
        }
}
print("Stored now: size \(store.value.size)")

//: **Hold** an `AnyStore` in a view model, on disk in the app.
@MainActor final class CameraModel {
    let config: AnyStore<CameraConfig>
    init(config: AnyStore<CameraConfig> = .persistent()) { self.config = config }
    var title: String { "The camera takes \(config.value.size) pictures" }
}
print(CameraModel(config: .persistent(in: suite)).title)

//: **Swap** in an `InMemoryStore` in a test. What is on disk stays as it is.
let model = CameraModel(config: .inMemory(CameraConfig(size: .small)))
print("In a test: \(model.title)")

//: **Single values** have a key with a default of their own.
nonisolated extension DefaultKey<Int> {
    static let launchCount = DefaultKey("launchCount", default: 0)
}
try suite.update(.launchCount) { $0 += 1 }
print("This is run \(suite[.launchCount]).")

//: **Property wrappers** are settings where they are used. `$` is the setting itself.
struct Settings {
    @UserDefault("nickname", in: suite) var nickname: String?
    @UserDefault("zoom", in: suite) var zoom = 1.0
}
let settings = Settings()
let token = settings.$zoom.observe { change in print("The zoom is now \(change.newValue ?? 0).") }
settings.zoom *= 2
settings.$zoom.reset()
token.cancel()

//: **Several settings** change as one commit, and an **observer** of the whole suite receives one
//: event.
let watch = suite.observeAll { change in print("Changed: \(change.keys)") }
try suite.update { contents in
    contents["lastRun"] = .integer(.init(suite[.launchCount]))
    contents[CameraConfig.self].savesToCameraRoll.toggle()
}
watch.cancel()

//: On Linux, where a suite is a settings file, a value survives a crash as soon as it is set.
//: Within a second, at exit, and after `synchronize()` it survives a power failure as well.
try suite.synchronize()
print("The settings are in \(suite.location ?? "the system's care").")
