public import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The value of the stores that ``StoreLaw`` checks.
///
/// Its fields have the types for which storage mistakes are common. Two samples are equal if they
/// are equal bit for bit: doubles and dates by bit pattern, texts and keys by their UTF-8 bytes.
public struct LawSample: DefaultConfig, Equatable {
    /// “LawSample”.
    public static let key = "LawSample"

    var text = ""
    var number = 0.0
    var count = 0
    var total = UInt64(0)
    var isOn = false
    var date = Date(timeIntervalSinceReferenceDate: 0)
    var data = Data()
    var nickname: String?
    var numbers: [Double] = []
    var entries: [String: Int] = [:]

    /// Creates a sample that is not in ``samples``.
    public init() {}

    /// The values with which the laws are checked. The first two are ordinary values, which differ
    /// in each field and which every store must accept.
    public static let samples: [LawSample] = {
        let (first, second) = (ordinary(1), ordinary(2))
        func varied<Value>(_ field: WritableKeyPath<LawSample, Value>, _ values: Value...) -> [LawSample] {
            values.map { value in
                var sample = first
                sample[keyPath: field] = value
                return sample
            }
        }
        return [first, second]
            + varied(\.text, "\u{E9}", "e\u{301}", "", "$null", "a\u{0}b", "🎛\r\n<&>", large)
            + varied(\.number, 0, -0.0, 1, 0.1 + 0.2, .infinity, -.infinity, .nan, .leastNonzeroMagnitude)
            + varied(\.number, -.greatestFiniteMagnitude, Double(bitPattern: Double.nan.bitPattern + 1))
            + varied(\.count, 0, .min, .max)
            + varied(\.total, .max)
            + varied(\.date, seconds(0), seconds(-0.0), seconds(0.123_456_789), .distantPast, .distantFuture)
            + varied(\.data, Data(), Data(0...255))
            + varied(\.nickname, nil, "")
            + varied(\.numbers, [], [0, -0.0], Array(repeating: 0.5, count: 1_000))
            + varied(\.entries, [:], ["\u{E9}": 1], ["e\u{301}": 1], ["": 1, "with.dots": 2, "$null": 3])
    }()

    private static let large = String(repeating: "x", count: 100_000)

    private static func seconds(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    private static func ordinary(_ number: Int) -> LawSample {
        var sample = LawSample()
        sample.text = "the text of sample \(number)"
        sample.number = Double(number) / 10
        sample.count = number
        sample.total = UInt64(number)
        sample.isOn = number == 1
        // A whole second, because some backends store no fractions.
        sample.date = seconds(700_000_000 + Double(number))
        sample.data = Data([UInt8(number), 2, 3])
        sample.nickname = "the nickname of sample \(number)"
        sample.numbers = [Double(number), 0.5]
        sample.entries = ["the entry of sample \(number)": number]
        return sample
    }

    /// Returns whether both are equal bit for bit.
    public static func == (lhs: LawSample, rhs: LawSample) -> Bool {
        lhs.number.bitPattern == rhs.number.bitPattern
            && lhs.count == rhs.count && lhs.total == rhs.total && lhs.isOn == rhs.isOn
            && lhs.date.timeIntervalSinceReferenceDate.bitPattern == rhs.date.timeIntervalSinceReferenceDate.bitPattern
            && lhs.data == rhs.data
            // `Data` compares long values fast, in debug builds as well.
            && Data(lhs.text.utf8) == Data(rhs.text.utf8)
            && lhs.nickname.map { Data($0.utf8) } == rhs.nickname.map { Data($0.utf8) }
            && lhs.numbers.withUnsafeBytes { Data($0) } == rhs.numbers.withUnsafeBytes { Data($0) }
            && lhs.entries.bytes == rhs.entries.bytes
    }
}

extension [String: Int] {
    fileprivate var bytes: [Data: Int] {
        var bytes: [Data: Int] = [:]
        for (key, value) in self { bytes[Data(key.utf8)] = value }
        return bytes
    }
}
