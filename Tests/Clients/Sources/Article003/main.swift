// Keys in enums, observations with a closure, and a fake for tests.
import TypedDefaultsRecipes

#if !canImport(Darwin)
    typealias UserDefaults = DefaultsSuite
#endif

struct PlayerDefaults: ObjectUserDefaultable, BoolUserDefaultable, IntegerUserDefaultable, FloatUserDefaultable,
    DoubleUserDefaultable, StringUserDefaultable, URLUserDefaultable
{
    enum ObjectDefaultKey: String { case title, state }
    enum BoolDefaultKey: String { case isShuffled }
    enum IntegerDefaultKey: String { case plays }
    enum FloatDefaultKey: String { case balance }
    enum DoubleDefaultKey: String { case rate }
    enum StringDefaultKey: String { case artist }
    enum URLDefaultKey: String { case stream }
}

// Values by key. `nil` removes.
PlayerDefaults.set("Blue", forKey: .title)
print(PlayerDefaults.object(for: .title) as? String ?? "-")  // => Blue
print(PlayerDefaults.bool(forKey: .isShuffled))  // => false
PlayerDefaults.set(["minutes": 3, "tags": ["jazz"]] as [String: Any], forKey: .state)
let state = PlayerDefaults.object(for: .state) as? [String: Any]
print(state?["minutes"] as? Int ?? 0, state?["tags"] as? [String] ?? [])  // => 3 ["jazz"]
PlayerDefaults.set(nil, forKey: .title)
PlayerDefaults.remove(for: .state)
print(PlayerDefaults.object(for: .title) == nil, PlayerDefaults.object(for: .state) == nil)  // => true true
print(PlayerDefaults.namespace(PlayerDefaults.BoolDefaultKey.isShuffled))
// => PlayerDefaults_BoolDefaultKey_isShuffled

// An observation by a string key, which ends when its object is deallocated. Each change is
// reported once, and a value that is stored again is no change.
class Display {
    var observation: UDKeyValueObservation?

    init() {
        observation = UserDefaults.standard.observe(String.self, forKey: "key-1", options: [.new, .old]) { _, change in
            print(change.oldValue ?? "-", "->", change.newValue ?? "-")
        }
    }
}

var shown = Display()
UserDefaults.standard.set("one", forKey: "key-1")  // => - -> one
UserDefaults.standard.set("one", forKey: "key-1")
UserDefaults.standard.set("two", forKey: "key-1")  // => one -> two
UserDefaults.standard.set(nil, forKey: "key-2")
UserDefaults.standard.set(nil, forKey: "key-1")  // => two -> -
shown.observation = nil
UserDefaults.standard.set("three", forKey: "key-1")

// Observations by a key of an enum. A protocol for one type needs no type here.
let observation = PlayerDefaults.observe(String.self, forKey: .title) { defaults, change in
    print(change)
    print(change.newValue ?? "-", defaults.integer(forKey: "PlayerDefaults_IntegerDefaultKey_plays"))
}
let observation2 = PlayerDefaults.observe(forKey: .isShuffled) { defaults, change in
    print(change.newValue!)
}
let more: [UDKeyValueObservation] = [
    PlayerDefaults.observe(forKey: .plays) { _, change in print(change.oldValue!, change.newValue!) },
    PlayerDefaults.observe(forKey: .balance) { _, change in print(change.newValue!) },
    PlayerDefaults.observe(forKey: .rate, options: .initial) { _, change in print("rate", change.newValue!) },
    PlayerDefaults.observe(forKey: .artist) { _, change in print(change.newValue ?? "-") },
]
// => rate 0.0
PlayerDefaults.set(4, forKey: .plays)  // => 0 4
PlayerDefaults.set("Green", forKey: .title)
// => DefaultChange<String>(set by local)
// => Green 4
PlayerDefaults.set(true, forKey: .isShuffled)  // => true
PlayerDefaults.set(0.5, forKey: .balance)  // => 0.5
PlayerDefaults.set(1.25, forKey: .rate)  // => rate 1.25
PlayerDefaults.set("Ann", forKey: .artist)  // => Ann
print(PlayerDefaults.integer(forKey: .plays), PlayerDefaults.float(forKey: .balance))  // => 4 0.5
print(PlayerDefaults.double(forKey: .rate), PlayerDefaults.string(forKey: .artist)!)  // => 1.25 Ann

// Observations of both kinds in one array.
var observations = [KeyValueObservationable]()
observations.append(contentsOf: [observation, observation2])
observations.append(contentsOf: more)
for observation in observations { observation.invalidate() }
PlayerDefaults.set("Red", forKey: .title)
PlayerDefaults.remove(for: .isShuffled)
PlayerDefaults.remove(for: .plays)
PlayerDefaults.remove(for: .balance)
PlayerDefaults.remove(for: .rate)
PlayerDefaults.remove(for: .artist)
print(PlayerDefaults.bool(forKey: .isShuffled), PlayerDefaults.integer(forKey: .plays))  // => false 0
print(PlayerDefaults.double(forKey: .rate), PlayerDefaults.string(forKey: .artist) ?? "-")  // => 0.0 -

// An object that receives its settings, with string keys and with keys of an enum.
class Recorder {
    let defaults: UserDefaultable

    init(defaults: UserDefaultable) {
        self.defaults = defaults
    }

    func save(value: Int) {
        defaults.set(value, forKey: "takes")
        PlayerDefaults.set(value, forKey: .plays, source: defaults)
        PlayerDefaults.set(value, forKey: .state, source: defaults)
    }
}

let app = Recorder(defaults: UserDefaults.standard)
let test = Recorder(defaults: UserDefaultsFake())
let observed = PlayerDefaults.observe(
    forKey: .plays, source: test.defaults, options: [.new, .old]
) { defaults, change in
    print("in the fake:", change.newValue!, defaults.integer(forKey: "takes"))
}
let byString = test.defaults.observe(Int.self, forKey: "takes") { _, change in print("takes:", change.newValue ?? 0) }
app.save(value: 7)
test.save(value: 8)
// => takes: 8
// => in the fake: 8 8
print(app.defaults.integer(forKey: "takes"), test.defaults.integer(forKey: "takes"))  // => 7 8
print(PlayerDefaults.integer(forKey: .plays, source: app.defaults))  // => 7
print(PlayerDefaults.integer(forKey: .plays, source: test.defaults))  // => 8
print(PlayerDefaults.object(for: .state, source: test.defaults) as? Int ?? 0)  // => 8
test.defaults.removeObject(forKey: "takes")  // => takes: 0
test.defaults.reset()  // => in the fake: 0 0
print(test.defaults.object(forKey: "takes") == nil, app.defaults.object(forKey: "takes") == nil)  // => true false

// A suite as a source, and the getters of the fake by type.
let suite = DefaultsSuite.inMemory()
PlayerDefaults.set(true, forKey: .isShuffled, source: suite)
print(PlayerDefaults.bool(forKey: .isShuffled, source: suite), PlayerDefaults.bool(forKey: .isShuffled))
// => true false
let fake = UserDefaultsFake()
fake.set("Ann", forKey: "name")
fake.set(["a", "b"], forKey: "list")
fake.set(["a": 1], forKey: "table")
fake.set(2.5, forKey: "number")
fake.set(true, forKey: "flag")
print(fake.string(forKey: "name")!, fake.array(forKey: "list")!.count, fake.stringArray(forKey: "list")!)
// => Ann 2 ["a", "b"]
print(fake.dictionary(forKey: "table")!.count, fake.double(forKey: "number"), fake.float(forKey: "number"))
// => 1 2.5 2.5
print(fake.bool(forKey: "flag"), fake.integer(forKey: "missing"), fake.data(forKey: "missing") == nil)
// => true 0 true
showStream()
