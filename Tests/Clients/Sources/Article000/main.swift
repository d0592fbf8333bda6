// Settings as static properties of an extension, with the default as an argument of the wrapper. A
// value that may be missing has a wrapper of its own, under one of two names.
import Foundation
import TypedDefaultsRecipes

#if !canImport(Darwin)
    private typealias UserDefaults = DefaultsSuite
#endif

private enum Name: String, CaseIterable {
    case isMuted, volume, station, tuning, balance, presets, plays, stream, tuner
    case isMutedOptional = "isMuted.optional"
    case volumeOptional = "volume.optional"
    case stationOptional = "station.optional"
    case tuningOptional = "tuning.optional"
    case balanceOptional = "balance.optional"
    case presetsOptional = "presets.optional"
    case playsOptional = "plays.optional"
    case streamOptional = "stream.optional"
    case tunerOptional = "tuner.optional"
}

#if swift(>=6)
    nonisolated final class Tuner: Codable, Sendable {
        let band: Int
        let region: String
        init(band: Int, region: String) { (self.band, self.region) = (band, region) }
    }
#else
    class Tuner: Codable {
        let band: Int
        let region: String
        init(band: Int, region: String) { (self.band, self.region) = (band, region) }
    }
#endif

// swift-format-ignore: NoAccessLevelOnExtensionDeclaration
#if swift(>=6) && !MainActorClient
    @MainActor
#endif
private extension UserDefaults {
    @UserDefault(Name.isMuted.rawValue, defaultValue: true) static var isMuted: Bool
    @UserDefault(Name.volume.rawValue, defaultValue: 3) static var volume: Int
    @UserDefault(Name.station.rawValue, defaultValue: "news") static var station: String
    @UserDefault(Name.tuning.rawValue, defaultValue: 98.5) static var tuning: Double
    @UserDefault(Name.balance.rawValue, defaultValue: 0.25) static var balance: Float
    @UserDefault(Name.presets.rawValue, defaultValue: ["news", "jazz"]) static var presets: [String]
    @UserDefault(Name.plays.rawValue, defaultValue: ["news": Int(1)]) static var plays: [String: Int]
    @UserDefault(Name.stream.rawValue, defaultValue: URL(string: "radio.example")!) static var stream: URL
    @UserDefault(Name.tuner.rawValue, defaultValue: Tuner(band: 1, region: "north")) static var tuner: Tuner

    @UserDefaultOptional(Name.isMutedOptional.rawValue) static var isMutedOptional: Bool?
    @OptionalUserDefault(Name.volumeOptional.rawValue) static var volumeOptional: Int?
    @UserDefaultOptional(Name.stationOptional.rawValue, defaultValue: "news") static var stationOptional: String?
    @OptionalUserDefault(Name.tuningOptional.rawValue, defaultValue: 98.5) static var tuningOptional: Double?
    @UserDefaultOptional(Name.balanceOptional.rawValue, defaultValue: 0.25) static var balanceOptional: Float?
    @UserDefaultOptional(Name.presetsOptional.rawValue, defaultValue: ["news"]) static var presetsOptional: [String]?
    @UserDefaultOptional(Name.playsOptional.rawValue, defaultValue: ["news": Int(1)])
    static var playsOptional: [String: Int]?
    @OptionalUserDefault(Name.streamOptional.rawValue, defaultValue: URL(string: "radio.example")!)
    static var streamOptional: URL?
    @UserDefaultOptional(Name.tunerOptional.rawValue, defaultValue: Tuner(band: 1, region: "north"))
    static var tunerOptional: Tuner?
}

for name in Name.allCases { UserDefaults.standard.removeObject(forKey: name.rawValue) }

print(UserDefaults.isMuted, UserDefaults.volume, UserDefaults.station)  // => true 3 news
print(UserDefaults.tuning, UserDefaults.balance, UserDefaults.presets)  // => 98.5 0.25 ["news", "jazz"]
print(UserDefaults.plays, UserDefaults.stream, UserDefaults.tuner.region)  // => ["news": 1] radio.example north
UserDefaults.isMuted = false
UserDefaults.volume = 7
UserDefaults.station = "jazz"
UserDefaults.tuning = 101.25
UserDefaults.balance = -0.5
UserDefaults.presets = ["jazz"]
UserDefaults.plays = ["jazz": Int(33)]
UserDefaults.stream = URL(string: "jazz.example")!
UserDefaults.tuner = Tuner(band: 2, region: "south")
print(UserDefaults.isMuted, UserDefaults.volume, UserDefaults.station)  // => false 7 jazz
print(UserDefaults.tuning, UserDefaults.balance, UserDefaults.presets)  // => 101.25 -0.5 ["jazz"]
print(UserDefaults.plays, UserDefaults.stream, UserDefaults.tuner.region)  // => ["jazz": 33] jazz.example south

print(UserDefaults.isMutedOptional == nil, UserDefaults.volumeOptional == nil)  // => true true
print(UserDefaults.stationOptional!, UserDefaults.tuningOptional!)  // => news 98.5
print(UserDefaults.balanceOptional!, UserDefaults.presetsOptional!)  // => 0.25 ["news"]
print(UserDefaults.playsOptional!, UserDefaults.streamOptional!)  // => ["news": 1] radio.example
print(UserDefaults.tunerOptional!.band)  // => 1
UserDefaults.isMutedOptional = false
UserDefaults.volumeOptional = 7
UserDefaults.stationOptional = "jazz"
UserDefaults.tuningOptional = 101.25
UserDefaults.balanceOptional = -0.5
UserDefaults.presetsOptional = []
UserDefaults.playsOptional = [:]
UserDefaults.streamOptional = URL(string: "jazz.example")!
UserDefaults.tunerOptional = Tuner(band: 2, region: "south")
print(UserDefaults.isMutedOptional!, UserDefaults.volumeOptional!)  // => false 7
print(UserDefaults.stationOptional!, UserDefaults.tuningOptional!)  // => jazz 101.25
print(UserDefaults.balanceOptional!, UserDefaults.presetsOptional!)  // => -0.5 []
print(UserDefaults.playsOptional!, UserDefaults.streamOptional!)  // => [:] jazz.example
print(UserDefaults.tunerOptional!.band)  // => 2
// `nil` removes the value, so the default is read again.
UserDefaults.isMutedOptional = nil
UserDefaults.stationOptional = nil
print(UserDefaults.isMutedOptional == nil, UserDefaults.stationOptional!)  // => true news
print(UserDefaults.standard.object(forKey: "station.optional") == nil)  // => true
// The wrapper of 2020 stored JSON data.
UserDefaults.standard.set(Data(#"{"band": 3, "region": "west"}"#.utf8), forKey: Name.tuner.rawValue)
print(UserDefaults.tuner.band, UserDefaults.tuner.region)  // => 3 west
