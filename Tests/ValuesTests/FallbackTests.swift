import Foundation
import TestSupport
import Testing
import TypedDefaults

/// A property that a later version adds does not make stored values unreadable.
struct FallbackTests {
    struct Config: DefaultConfig {
        static let key = "config"
        var old = "old"
        var added = 7
    }

    @Test func theDefaultImplementationTakesMissingPropertiesFromTheDefault() {
        #expect(Config(["old": "kept"])?.added == 7)
    }

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
        }
    }
}
