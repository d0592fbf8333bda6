//: # Store
//:
//: A config struct holds values that change together. A store keeps it.
import TypedDefaults

struct CameraConfig: DefaultConfig {
    static let key = "CameraConfig"
    var savesToCameraRoll = true
    var zoom = 1
}

//: An app uses `.persistent()`, which stores in `DefaultsSuite.standard`. This page stores in
//: memory.
let config: AnyStore<CameraConfig> = .inMemory()

//: `value` is never `nil`: until a value is stored, it is the default.
print(config.value.zoom)  // 1
print(config.get() == nil)  // true

//: `update` reads, changes and stores in one step, while other writers wait.
try config.update { $0.zoom = 4 }
print(config.value.zoom)  // 4

//: An observer receives each change, until its token is cancelled or deallocated.
let token = config.observe { change in print("zoom \(change.newValue?.zoom ?? 1)") }
try config.update { $0.zoom = 8 }  // zoom 8
token.cancel()

//: `remove` removes what is stored. The default counts again.
config.remove()
print(config.value.zoom)  // 1
//: [Next: Key](@next)
