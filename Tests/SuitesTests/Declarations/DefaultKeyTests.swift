import Foundation
import TestSupport
import Testing
import TypedDefaults

extension DefaultKey<Double> {
    fileprivate static let quality = DefaultKey("quality", default: 0.8)
}

struct DefaultKeyTests {
    enum Theme: String, Codable { case light, dark }
    enum RawOnly: Int { case off, on }
    enum RawConvertible: Int, DefaultConvertible {
        static let key = "raw"
        case off, on
    }
    enum RawCodableConvertible: Int, Codable, DefaultConvertible {
        static let key = "raw"
        case off, on
    }
    private func stored<Value>(_ key: DefaultKey<Value>) -> PropertyList? {
        let suite = DefaultsSuite.inMemory()
        suite[key] = key.defaultValue
        return suite[DefaultKey<PropertyList?>(key.name)]
    }

    @Test func oneKeyOfOptionalTypeIsReadAsAnOptional() throws {
        let suite = DefaultsSuite.inMemory(["nickname": "kai", "bad": 5])
        let nickname = DefaultKey<String?>("nickname", default: nil)
        #expect(try suite.read(nickname)?.count == 3)
        #expect(try suite.read(DefaultKey<String?>("other", default: nil))?.count == nil)
        #expect(fails(with: .unreadable) { _ = try suite.read(DefaultKey<String?>("bad", default: nil)) })
        let (first, second) = try suite.read(nickname, .quality)
        #expect(first == "kai" && second == 0.8)
    }

    @Test func everyKindOfTypeIsStoredInItsOwnForm() {
        #expect(stored(DefaultKey("k", default: 5)) == 5)
        #expect(stored(DefaultKey("k", default: "$null")) == "$null")
        #expect(stored(DefaultKey<String?>("k", default: "$null")) == "$null")
        #expect(stored(DefaultKey("k", default: Theme.dark)) == "dark")
        #expect(stored(DefaultKey<Theme?>("k", default: .dark)) == "dark")
        #expect(stored(DefaultKey("k", default: RawOnly.on)) == 1)
        #expect(stored(DefaultKey<RawOnly?>("k", default: .on)) == 1)
        #expect(stored(DefaultKey("k", default: RawConvertible.on)) == 1)
        #expect(stored(DefaultKey<RawConvertible?>("k", default: .on)) == 1)
        #expect(stored(DefaultKey("k", default: RawCodableConvertible.on)) == 1)
        #expect(stored(DefaultKey<RawCodableConvertible?>("k", default: .on)) == 1)
        #expect(stored(DefaultKey("k", default: CameraConfig())) == ["savesToCameraRoll": true, "size": "medium"])
    }

    @Test func keysOfOneNameAndSeveralTypesSeeEachOther() {
        let suite = DefaultsSuite.inMemory().quiet
        let number = DefaultKey("k", default: 0)
        let ratio = DefaultKey("k", default: 0.0)
        let anything = DefaultKey<PropertyList?>("k")
        suite[number] = 5
        #expect(suite[ratio] == 5)
        suite[ratio] = 6
        #expect(suite[number] == 6)
        suite[anything] = 7
        #expect(suite[number] == 7 && suite[ratio] == 7)
    }
}
