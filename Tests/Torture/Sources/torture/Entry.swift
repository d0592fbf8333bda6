import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// A setting whose contents follow from its number, so that torn or old contents are detected.
struct Entry: DefaultConvertible, Codable, Equatable {
    static let key = "entry"
    var number: Int
    var text: String

    init(_ number: Int) {
        self.number = number
        // The lengths differ widely, so that the file is compacted every few writes.
        text = String(repeating: String(number % 10), count: number * 2_654_435_761 % 5_000 * Self.scale)
    }

    /// `TORTURE_SCALE` multiplies the length of the texts.
    private static let scale = getenv("TORTURE_SCALE").flatMap { Int(String(cString: $0)) } ?? 1
}

/// Returns a string of `count` bytes. `String(repeating:count:)` takes longer than storing the
/// string.
func filler(_ count: Int) -> String { String(decoding: [UInt8](repeating: 0x78, count: count), as: UTF8.self) }

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func fail(_ reason: String) -> Never {
    say(reason)
    exit(1)
}
