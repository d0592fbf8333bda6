// Repeats one call, so that `Tests/Benchmarks/instructions` can count its instructions.
// usage: Instructions CALL memory|FILE
import Foundation
import TypedDefaults
import TypedDefaultsRecipes

struct Config: DefaultConvertible, Codable {
    static let key = "Config"
    enum Size: String, Codable { case large, medium, small }
    var savesToCameraRoll = true
    var size = Size.medium
    var count = 0
    var ratio = 0.5
    var name = "name"
}

struct Camera: DefaultConfig {
    static let key = "Camera"
    // Of another layout than `Config`: functions that the compiler shares would change the counts
    // of both.
    var name = "name"
    var ratio = 0.5
    var count = 0
    var size = Config.Size.medium
    var savesToCameraRoll = true
}

extension DefaultKey<Int> { static let count = DefaultKey("count", default: 1) }

final class Account: StorableConfig { @Stored var userName = "" }

struct Settings {
    @UserDefault("number") var number = 9
    @UserDefault("wrapped") var camera = Camera()

    init(in suite: DefaultsSuite) {
        _number = UserDefault("number", default: 9, in: suite)
        _camera = UserDefault("wrapped", default: Camera(), in: suite)
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fatalError("usage: Instructions CALL memory|FILE") }
let suite = arguments[2] == "memory" ? DefaultsSuite.inMemory() : try DefaultsSuite(file: URL(filePath: arguments[2]))
let store = PersistentStore<Config>(in: suite)
let settings = Settings(in: suite)
var editedSettings = settings
let account = Account(in: suite, identifier: "app")
let camera = PersistentStore<Camera>(in: suite)
store.set(Config())
settings.$number.value = 3
account.userName = "a"
suite[.count] = 2

// Not in `run()`, because a function inside it would not be counted.
@Sendable func note(_ change: DefaultChange<Config>) { precondition(change.kind == .set) }
@Sendable func noteValue(_ change: DefaultChange<Config>) { precondition(change.newValue!.count > 0) }

/// The instructions of this function and the functions that it calls are counted.
@MainActor @inline(never) func run(_ rounds: Int) throws -> Int {
    var sum = 0
    switch arguments[1] {
    case "get": for _ in 0..<rounds { sum += store.get()?.count ?? 1 }
    case "wrapper": for _ in 0..<rounds { sum += settings.number }
    case "stored": for _ in 0..<rounds { sum += account.userName.utf8.count }
    case "suite": for _ in 0..<rounds { sum += suite[.count] }
    case "new-key": for _ in 0..<rounds { sum += suite[DefaultKey("count", default: 1)] }
    case "set": for round in 0..<rounds { store.set(Config(count: round + 1)) }
    case "equal-set": for _ in 0..<rounds { store.set(Config()) }
    case "observed-set", "observed-value":
        let token = store.observe(arguments[1] == "observed-set" ? note : noteValue)
        for round in 0..<rounds { store.set(Config(count: round + 1)) }
        token.cancel()
    case "update": for _ in 0..<rounds { try settings.$number.update { $0 += 1 } }
    case "config-get": for _ in 0..<rounds { sum += camera.value.count }
    case "config-update": for _ in 0..<rounds { try camera.update { $0.count += 1 } }
    case "config-edit": for round in 0..<rounds { camera.value.count = round + 1 }
    case "key-edit": for round in 0..<rounds { suite[Camera.self].count = round + 1 }
    case "wrapper-edit": for round in 0..<rounds { editedSettings.camera.count = round + 1 }
    case "first-update":
        // Nothing is known of a value that another release has stored.
        for round in 0..<rounds {
            try suite.update { $0["Camera"] = ["count": .integer(.init(round))] }
            try camera.update { $0.count += 1 }
        }
    default: fatalError("no such call: \(arguments[1])")
    }
    return sum
}
// The first rounds are not counted.
print(try run(500), try run(1_000))
