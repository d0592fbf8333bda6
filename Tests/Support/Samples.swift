package import Foundation
package import TypedDefaults

/// Values that careless code handles incorrectly, for tables and random trees.
package enum Samples {
    package static let composed = "caf\u{E9}"
    package static let decomposed = "cafe\u{301}"

    package static let strings = [
        "", "a", "$null", "$$null", "$$$null", "$nullx", "x$null", "null", "$", "$$", "$nul", "$Null", "\0", "a\0b",
        "5",
        "true", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{FEFF}", "\r\n", "{}", composed, decomposed,
    ]

    package static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 1.5, .pi, .infinity, -.infinity, .nan, -.nan, .signalingNaN, .leastNonzeroMagnitude,
        .leastNormalMagnitude, .greatestFiniteMagnitude, 9_007_199_254_740_992, 1e300,
        Double(bitPattern: 0x7FF8_0000_0000_0001), Double(bitPattern: 0x7FF0_0000_0000_0001),
        Double(bitPattern: 0xFFF7_FFFF_FFFF_FFFF), Double(bitPattern: 0xFFFF_FFFF_FFFF_FFFF),
    ]

    package static let floats: [Float] = [
        0, -0.0, 1, 0.1, 1.5, .pi, .infinity, -.infinity, .nan, -.nan, .signalingNaN, .leastNonzeroMagnitude,
        .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, Float(bitPattern: 0x7FC0_0001),
        Float(bitPattern: 0x7F80_0001), Float(bitPattern: 0xFFBF_FFFF), Float(bitPattern: 0xFFFF_FFFF),
    ]

    package static let dates = [
        0, -0.0, 1, 0.1, 725_846_400.123_456_7, -978_307_200, 1e-9, 4e15,
        Date.distantPast.timeIntervalSinceReferenceDate,
        Date.distantFuture.timeIntervalSinceReferenceDate, .nan, .infinity, -.infinity,
    ].map { Date(timeIntervalSinceReferenceDate: $0) }

    package static let integers: [Int64] = [
        0, 1, -1, 5, 127, 128, -128, -129, 255, 256, 32_767, 65_535, 1 << 31, 1 << 53, (1 << 53) + 1, .max, .min,
    ]

    package static let data = [
        Data(), Data([0]), Data("AAAA".utf8), Data(#""AAAA""#.utf8), Data("{}".utf8), Data(0...255),
    ]
}

extension PropertyList {
    /// Returns a tree with values of all kinds, no deeper than a limit.
    package static func random(depth: Int = 5, using generator: inout SeededGenerator) -> PropertyList {
        switch Int.random(in: 0..<(depth > 1 ? 12 : 8), using: &generator) {
        case 0: .bool(.random(using: &generator))
        case 1: .integer(Int64(Samples.integers.randomElement(using: &generator)!))
        case 2: .unsigned(UInt64.random(in: 0 ... .max, using: &generator))
        case 3: .double(Samples.doubles.randomElement(using: &generator)!)
        case 4: .double(Double(bitPattern: .random(in: 0 ... .max, using: &generator)))
        case 5: .string(Samples.strings.randomElement(using: &generator)!)
        case 6: .data(Samples.data.randomElement(using: &generator)!)
        case 7: .date(Samples.dates.randomElement(using: &generator)!)
        case 8, 9:
            .array(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in random(depth: depth - 1, using: &generator) })
        default:
            .dictionary(
                Dictionary(
                    (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                        (
                            Samples.strings.randomElement(using: &generator)!,
                            random(depth: depth - 1, using: &generator)
                        )
                    }
                ) { first, _ in first })
        }
    }

    /// Returns nested arrays, around a leaf if there is one.
    package static func nested(_ levels: Int, around leaf: PropertyList? = nil) -> PropertyList {
        var list: PropertyList = leaf.map { .array([$0]) } ?? .array([])
        for _ in 1..<levels { list = .array([list]) }
        return list
    }
}
