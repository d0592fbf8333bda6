// Two properties of one key, and an observer. Publishers need Combine: see `CombineTests` in
// Tests/AppleStubs.
import TypedDefaultsRecipes

struct Dial {
    @UserDefault("number")
    var number: Int = 10
}

struct Display {
    @UserDefault("number")
    var number: Int = 10
}

var dial = Dial()
var display = Display()

// In place of `dial.$number.sink { … }`.
let token = dial.$number.observe(initial: true) { print("observed", $0.newValue!) }
// => observed 10

dial.number = 20  // => observed 20
print(dial.number, display.number)  // => 20 20
display.number = 30  // => observed 30
print(dial.number, display.number)  // => 30 30

// In place of `publisher.assign(to: \.value, on: dial.$number)`, through the same key path.
let value: ReferenceWritableKeyPath<UserDefault<Int>, Int> = \.value
for number in [40, 50, 60] { dial.$number[keyPath: value] = number }
// => observed 40
// => observed 50
// => observed 60
print(dial.$number.value, display.$number.value)  // => 60 60

// In place of a subject and a publisher: a closure that writes, and one that receives.
let write: (Int) -> Void = { [setting = dial.$number] in setting.value = $0 }
write(70)  // => observed 70
token.cancel()
write(80)
print(display.number)  // => 80

// Settings in one place, also of types of your own. `userDefaults:` is `in:`.
let suite = DefaultsSuite.inMemory()
struct Settings {
    enum Size: String, Codable { case small, large }
    nonisolated struct Point: Codable { var x = 0, y = 0 }  // nonisolated: as in Article001
    @UserDefault("size", in: suite) var size: Size = .small
    @UserDefault("origin", in: suite) var origin: Point = Point()
    @UserDefault("limit", in: suite) var limit: Int? = nil
}
var settings = Settings()
settings.size = .large
settings.origin.x = 5
settings.limit = 9
print(Settings().size, Settings().origin.x, Settings().limit!)  // => large 5 9
settings.limit = nil
print(Settings().limit == nil)  // => true
