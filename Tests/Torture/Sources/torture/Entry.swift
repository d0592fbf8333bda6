import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// A setting whose contents follow from its number, so that a mix or a remnant shows.
struct Entry: DefaultConvertible, Codable, Equatable {
    static let key = "entry"
    var number: Int
    var text: String

    init(_ number: Int) {
        self.number = number
        // Of very different lengths, so that the file is replaced every few writes.
        text = String(repeating: String(number % 10), count: number * 2_654_435_761 % 5_000)
    }
}

/// So many bytes that the file is replaced for; `String(repeating:count:)` takes longer to make them than it takes to store them.
func filler(_ count: Int) -> String { String(decoding: [UInt8](repeating: 0x78, count: count), as: UTF8.self) }

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func fail(_ reason: String) -> Never {
    say(reason)
    exit(1)
}
