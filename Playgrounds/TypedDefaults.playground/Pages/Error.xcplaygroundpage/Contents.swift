//: # Error
//:
//: Reading by `value` and by `suite[key]` never throws: what cannot be read takes its default.
import TypedDefaults

nonisolated extension DefaultKey<Int> {
    static let zoom = DefaultKey("zoom", default: 1)
}

//: Another program has stored a word in place of a number.
let suite = DefaultsSuite.inMemory(["zoom": "far"])
suite.onFailure = { error in print("reported: \(error.kind)") }
let zoom = suite[.zoom]  // reported: unreadable
print(zoom)  // 1

//: `read` throws, so that you can tell a missing value from one that cannot be read.
do {
    _ = try suite.read(.zoom)
} catch let error as DefaultsError {
    print("thrown: \(error.kind)")  // thrown: unreadable
}

//: A write copies the unreadable value first, so nothing is lost.
suite[.zoom] = 2  // reported: unreadable
print(try suite.keys())  // ["zoom", "zoom.unreadable"]
//: [Next: Migration](@next)
