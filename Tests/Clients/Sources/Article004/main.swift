// Types that convert themselves, stores of them, and a store in memory for tests. `AnyObject` is
// `Any` in three places; all else is as in 2016.
import TypedDefaultsRecipes

struct LensConfig: DefaultConvertible {
    enum Mount: Int { case small, medium, large }

    var isLocked: Bool
    var mount: Mount

    static let key = "LensConfig"

    init?(_ object: Any) {
        guard let dict = object as? [String: Any] else { return nil }

        self.isLocked = dict["locked"] as? Bool ?? true
        if let rawMount = dict["mount"] as? Int, let mount = Mount(rawValue: rawMount) {
            self.mount = mount
        } else {
            self.mount = .medium
        }
    }

    func serialize() -> Any {
        return ["locked": isLocked, "mount": mount.rawValue]
    }
}

let userDefaults = PersistentStore<LensConfig>()
print(userDefaults.get() == nil)  // => true
var config = LensConfig([:])!
userDefaults.set(config)
print(userDefaults.get()!.mount)  // => medium
config.mount = .large
userDefaults.set(config)
print(userDefaults.get()!.mount, userDefaults.get()!.isLocked)  // => large true

// An enum and a class as types of a setting.
enum Theme: String, DefaultConvertible {
    case light, dark
    static let key = "Theme"
    init?(_ object: Any) {
        guard let name = object as? String else { return nil }
        self.init(rawValue: name)
    }
    func serialize() -> Any { return rawValue }
}
final class Owner: DefaultConvertible {
    static let key = "Owner"
    let name: String
    init(name: String) { self.name = name }
    init?(_ object: Any) {
        guard let name = object as? String else { return nil }
        self.name = name
    }
    func serialize() -> Any { return name }
}
PersistentStore<Theme>().set(.dark)
PersistentStore<Owner>().set(Owner(name: "ann"))
print(PersistentStore<Theme>().get()!, PersistentStore<Owner>().get()!.name)  // => dark ann

class LensController {
    lazy var config: AnyStore<LensConfig> = {
        let store = PersistentStore<LensConfig>()
        return AnyStore(store)
    }()
}

let app = LensController()
print(app.config.get()!.mount)  // => large
let test = LensController()
let store = InMemoryStore<LensConfig>()
store.set(LensConfig([:])!)
test.config = AnyStore(store)
print(test.config.get()!.mount, app.config.get()!.mount)  // => medium large
test.config.remove()
print(store.get() == nil, userDefaults.get() == nil)  // => true false
