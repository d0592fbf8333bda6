import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Opens, writes and closes as many suites on a few files as a line of the input says, and prints
/// how many there were. At the end it prints the sum of what the files count.
///
/// - Parameters:
///   - path: The beginning of the files' names.
///   - keeps: Whether to keep the suites, as a control.
func cycle(_ path: String, keeps: Bool) throws {
    let files = 50
    var kept: [DefaultsSuite] = []
    var cycle = 0
    func file(_ number: Int) -> URL { URL(filePath: "\(path)-\(number % files)") }
    while let count = readLine().flatMap({ Int($0) }) {
        for _ in 0..<count {
            // Background work retains a suite that is not immediate until it is flushed. Five of
            // the files see both kinds.
            let suite = try DefaultsSuite(file: file(cycle), durability: cycle % 10 == 0 ? .process : .immediate)
            try UserDefault(DefaultKey("count", default: 0), in: suite).store.updateStored { $0 = ($0 ?? 0) + 1 }
            if keeps, cycle >= files { kept.append(suite) }
            cycle += 1
        }
        say("\(cycle) opened, \(kept.count) kept")
    }
    say("\(try (0..<files).reduce(0) { try $0 + DefaultsSuite(file: file($1))[DefaultKey("count", default: 0)] })")
}
