//: # Migration
//:
//: A new property needs no migration: it has its default until it is stored. A new name needs a
//: step.
import TypedDefaults

nonisolated extension DefaultKey<Double> {
    static let quality = DefaultKey("quality", default: 0.8)
}

//: An earlier version of the app has stored the quality under the key `q`.
let suite = DefaultsSuite.inMemory(["q": 0.5])
print(suite[.quality])  // 0.8

//: Call `migrate` at launch. Each step is made once.
var migrator = DefaultsMigrator()
migrator.register("2.0: longer names") { contents in
    contents.rename("q", to: "quality")
}
try suite.migrate(migrator)
print(suite[.quality])  // 0.5
try suite.migrate(migrator)
print(suite[.quality])  // 0.5
