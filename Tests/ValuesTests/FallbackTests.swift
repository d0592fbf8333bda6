import Foundation
import TestSupport
import Testing
import TypedDefaults

/// A property that a later version adds does not make stored values unreadable.
struct FallbackTests {
    struct Config: DefaultConfig, Equatable {
        static let key = "config"
        struct Inner: Codable, Equatable {
            var old = "old"
            var added = 1
        }
        var old = "old"
        var added = 7
        var note: String?
        var inner = Inner(added: 8)
        var list: [Inner] = []
    }

    @Test func aMissingPropertyReadsAsInTheDefault() throws {
        let suite = DefaultsSuite.inMemory(["config": ["old": "kept", "inner": ["old": "kept too"], "list": []]])
        let failures = Failures(of: suite)
        let expected = Config(old: "kept", added: 7, inner: .init(old: "kept too", added: 8))
        #expect(PersistentStore<Config>(in: suite).get() == expected)
        #expect(suite[DefaultKey<Config?>("config")] == expected)
        #expect(failures.kinds == [])
        try PersistentStore<Config>(in: suite).updateStored { $0?.old = "new" }
        #expect(PersistentStore<Config>(in: suite).get()?.added == 7)
        #expect(try suite.keys() == ["config"])
    }

    @Test func aKeyTakesMissingPropertiesFromItsDefault() {
        struct Plain: Codable, Equatable {
            var old = 1
            var added = 2
        }
        let suite = DefaultsSuite.inMemory(["plain": ["old": 5]])
        #expect(suite[DefaultKey("plain", default: Plain(added: 3))] == Plain(old: 5, added: 3))
    }

    @Test func theDefaultImplementationTakesMissingPropertiesFromTheDefault() {
        #expect(Config(["old": "kept"])?.added == 7)
    }

    @Test func withoutADefaultAMissingPropertyIsUnreadableAndNamed() {
        let suite = DefaultsSuite.inMemory(["CameraConfig": ["size": "large"]])
        let error = #expect(throws: DefaultsError.self) { try PersistentStore<CameraConfig>(in: suite).load() }
        #expect(error?.description.contains("“savesToCameraRoll” is missing") == true)
    }
}

/// The same in data that holds JSON or a property list.
extension FallbackTests {
    private struct Profile: Codable, Equatable, Sendable {
        struct Window: Codable, Equatable {
            var width = 640
            var height: Int
        }
        var title = ""
        var share = Decimal(0)
        var scale = 1.5
        var count: UInt64 = 0
        var date = Date(timeIntervalSinceReferenceDate: 0.1)
        var icon = Data([1, 2])
        var flag = true
        var note: String?
        var windows: [Window] = []
        var main = Window(height: 480)
        var added = 7
    }

    /// The form stored by an earlier version, which had no `added`, no `main.height` and no
    /// elements.
    private struct Earlier: Encodable {
        struct Window: Encodable { var width = 800 }
        var title = "Ann"
        var share = Decimal(string: "0.1234567890123456789012345678901234567")!
        var scale = -0.0
        var count = UInt64.max
        var date = Date(timeIntervalSinceReferenceDate: 800_000_000)
        var icon = Data([3])
        var flag = false
        var windows: [Window] = []
        var main = Window()
    }

    private static func stored(_ value: some Encodable) throws -> [Data] {
        let (xml, binary) = (PropertyListEncoder(), PropertyListEncoder())
        (xml.outputFormat, binary.outputFormat) = (.xml, .binary)
        return try [JSONEncoder().encode(value), xml.encode(value), binary.encode(value)]
    }

    @Test func dataOfAnEarlierVersionIsFilledIn() throws {
        let earlier = Earlier()
        let expected = Profile(
            title: "Ann", share: earlier.share, scale: -0.0, count: .max, date: earlier.date, icon: Data([3]),
            flag: false, main: Profile.Window(width: 800, height: 480))
        for data in try Self.stored(earlier) {
            for form in [DefaultKey<Profile>.Form.propertyList, .jsonData] {
                let suite = DefaultsSuite.inMemory(["profile": .data(data)])
                let failures = Failures(of: suite)
                let read = suite[DefaultKey("profile", default: Profile(), form: form)]
                #expect(read == expected)
                #expect(read.scale.sign == .minus)
                #expect(failures.kinds == [])
            }
            let suite = DefaultsSuite.inMemory(["config": .data(try JSONEncoder().encode(["old": "kept"]))])
            #expect(PersistentStore<Config>(in: suite).get()?.old == "kept")
            #expect(PersistentStore<Config>(in: suite).get()?.added == 7)
        }
    }

    private struct Limits: Codable, Sendable {
        var name = "default"
        var upper = Double.infinity
        var lower = -Float.infinity
        var step: [Double] = [.nan]
        var price = Decimal.nan
        var added = 7
        var inner = Inner()
        struct Inner: Codable, Sendable {
            var old = Double.nan
            var added = Double.nan
            var alsoAdded = -Double.infinity
        }
    }

    /// The form stored by an earlier version, which had no property with `added` in its name.
    private struct EarlierLimits: Encodable {
        struct Inner: Encodable { var old = 2.5 }
        var name = "stored"
        var upper = 1.5
        var lower = 0.5
        var step = [0.25]
        var price = Decimal(3)
        var inner = Inner()
    }

    @Test func aDefaultThatIsNotFiniteFillsInData() throws {
        for data in try Self.stored(EarlierLimits()) {
            for form in [DefaultKey<Limits>.Form.propertyList, .jsonData] {
                let suite = DefaultsSuite.inMemory(["limits": .data(data)])
                let failures = Failures(of: suite)
                let read = suite[DefaultKey("limits", default: Limits(), form: form)]
                #expect(failures.kinds == [])
                #expect(read.name == "stored")
                #expect(read.upper == 1.5)
                #expect(read.lower == 0.5)
                #expect(read.step == [0.25])
                #expect(read.price == 3)
                #expect(read.inner.old == 2.5)
                #expect(read.added == 7)
                #expect(read.inner.added.isNaN)
                #expect(read.inner.alsoAdded == -.infinity)
            }
        }
    }

    @Test func anErrorNamesWhatIsMissingInTheData() throws {
        struct Holder: Codable, Sendable { var profiles: [String: Earlier2] }
        struct Earlier2: Codable, Sendable { var rows: [Profile.Window] }
        let json = Data(
            #"{"profiles": {"alice@example.com": {"rows": [{"width": 1, "height": 2}, {"width": 1}]}}}"#.utf8)
        let suite = DefaultsSuite.inMemory(["holder": .data(json)])
        let store = UserDefault(DefaultKey<Holder?>("holder"), in: suite).store
        let error = #expect(throws: DefaultsError.self) { try store.load() }
        #expect(error?.path == ["profiles", "*", "rows", "1"])
        let reason = "“height” is missing; to keep it, make its type a DefaultConfig, or the property optional"
        #expect(error?.reason == reason)
        #expect(error?.description.contains("alice") == false)
    }
}
