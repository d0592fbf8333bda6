// Classes whose properties are settings, one class for each category.
import TypedDefaultsRecipes

DefaultsSuite.standardName = "com.example.player"  // the bundle identifier, where there is one
DefaultsSuite.standard.onFailure = { print($0) }

class PlayerConfig: StorableConfig {
    @Stored var isFirstRun = true
    @Stored var owner = ""
    @Stored var favorites = [String]()
}

class RadioConfig: StorableConfig {
    @Stored var owner = ""
    @Stored("radio-volume") var volume = 3  // a key of its own
}

class PodcastConfig: StorableConfig {
    @Stored var owner = ""
}

nonisolated class NewsConfig: PodcastConfig {}  // nonisolated: for modules isolated to the main actor

let playerConfig = PlayerConfig()
let isFirstRun = playerConfig.isFirstRun
print("first run: \(isFirstRun)")  // => first run: true
playerConfig.isFirstRun = false
print(PlayerConfig().isFirstRun)  // => false

// Categories share no values, and neither do a class and its subclass.
playerConfig.owner = "ann"
RadioConfig().owner = "bob"
PodcastConfig().owner = "cid"
NewsConfig().owner = "dan"
print(PlayerConfig().owner, RadioConfig().owner, PodcastConfig().owner, NewsConfig().owner)  // => ann bob cid dan
playerConfig.favorites.append("jazz")
print(PlayerConfig().favorites)  // => ["jazz"]
for key in playerConfig.allKeys + RadioConfig().allKeys { print(key) }
// => com/example/player/PlayerConfig/isFirstRun
// => com/example/player/PlayerConfig/owner
// => com/example/player/PlayerConfig/favorites
// => com/example/player/RadioConfig/owner
// => radio-volume

// A value that the recipe of 2017 stored is under a key with dots.
PodcastConfig().reset()
DefaultsSuite.standard.set("eve", forKey: "com.example.player.PodcastConfig.owner")
print(PodcastConfig().owner)  // => eve
print(DefaultsSuite.standard.object(forKey: "com.example.player.PodcastConfig.owner") == nil)  // => true

// The spelling of the article, which compiles and is reported.
class OldConfig: StorableConfig {
    dynamic var isFirstRun = true
    dynamic var owner = ""
}
OldConfig().owner = "fay"
// => refused (OldConfig): no property is @Stored, so nothing is stored: isFirstRun, owner
print(OldConfig().owner == "")
// => refused (OldConfig): no property is @Stored, so nothing is stored: isFirstRun, owner
// => true
