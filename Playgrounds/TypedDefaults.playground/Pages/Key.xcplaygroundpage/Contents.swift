//: # Key
//:
//: A key names a single value that you use in several places.
import TypedDefaults

nonisolated extension DefaultKey<Double> {
    static let quality = DefaultKey("quality", default: 0.8)
}
nonisolated extension DefaultKey<[String]> {
    static let recentFilters = DefaultKey("recentFilters", default: [])
}

//: An app uses `DefaultsSuite.standard`. This page has a suite in memory.
let suite = DefaultsSuite.inMemory()
print(suite[.quality])  // 0.8
suite[.quality] = 0.5
print(suite[.quality])  // 0.5

//: `update` changes a value in one step. Several values can change as one commit.
try suite.update(.recentFilters) { $0.append("Sepia") }
try suite.update { contents in
    contents[.quality] = 1
    contents[.recentFilters].append("Mono")
}
print(suite[.quality], suite[.recentFilters])  // 1.0 ["Sepia", "Mono"]

//: `remove` removes what is stored.
suite.remove(.quality)
print(suite[.quality])  // 0.8
//: [Next: SwiftUI](@next)
