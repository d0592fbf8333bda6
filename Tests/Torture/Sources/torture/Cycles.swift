import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#endif

/// The system resources that a process holds, from `/proc` on Linux.
struct Resources: CustomStringConvertible {
    var descriptors: Int
    var threads: Int
    var mappings: Int
    /// In KiB.
    var memory: Int

    static func now() throws -> Resources {
        let memory = lines("status").first { $0.hasPrefix("VmRSS:") }?.filter(\.isNumber)
        return Resources(
            descriptors: try names("fd").count, threads: try names("task").count, mappings: lines("maps").count,
            memory: memory.flatMap { Int($0) } ?? .max)
    }

    /// Returns whether a file whose path begins like this is open or mapped.
    static func hasOpen(_ path: String) throws -> Bool {
        if lines("maps").contains(where: { $0.contains(path) }) { return true }
        return try names("fd").contains { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return target?.hasPrefix(path) ?? false
        }
    }

    private static func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)")
    }

    /// Reads a file of `/proc` with system calls, because Foundation reads only its first 4 KiB.
    private static func lines(_ file: String) -> [Substring] {
        let descriptor = open("/proc/self/\(file)", O_RDONLY)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    var description: String {
        "\(descriptors) descriptors, \(threads) threads, \(mappings) mappings, \(memory) KiB"
    }
}

/// Opens and closes suites on a few files, and compares the resources held before and after.
///
/// - Parameters:
///   - path: The beginning of the files' names.
///   - count: How many suites to open and close.
///   - keeps: Whether to keep the suites, as a control.
func cycle(_ path: String, count: Int, keeps: Bool) throws {
    let files = 50
    var kept: [DefaultsSuite] = []
    func file(_ number: Int) -> URL { URL(filePath: "\(path)-\(number % files)") }
    func run(_ cycles: Range<Int>) throws {
        for cycle in cycles {
            // Background work retains a suite that is not immediate until it is flushed. Five of
            // the files see both kinds.
            let suite = try DefaultsSuite(file: file(cycle), durability: cycle % 10 == 0 ? .process : .immediate)
            let store = UserDefault(DefaultKey("count", default: 0), in: suite).store
            try store.updateStored { $0 = ($0 ?? 0) + 1 }
            if keeps, cycle >= files { kept.append(suite) }
        }
    }
    /// Returns the resources held once the background work has ended, or after ten seconds.
    func settled(_ isSettled: (Resources) -> Bool) throws -> Resources {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let isClosed = try !Resources.hasOpen(path)
            let now = try Resources.now()
            if isClosed && isSettled(now) || ContinuousClock.now > end { return now }
            usleep(10_000)
        }
    }

    try run(0..<files)
    let before = try settled { _ in true }
    try run(files..<(files + count))
    let after = try settled { $0.threads <= before.threads }
    let sum = try (0..<files).reduce(0) { sum, number in
        try sum + DefaultsSuite(file: file(number))[DefaultKey("count", default: 0)]
    }
    say("\(count) suites opened and closed; before: \(before); after: \(after); \(kept.count) kept")
    guard sum == files + count else { fail("\(sum) updates instead of \(files + count)") }
    // Threads that have ended leave mappings for the stacks and heaps of later ones. No file may
    // stay open or mapped.
    let leaked = [
        try Resources.hasOpen(path) ? "files" : nil, after.descriptors > before.descriptors ? "descriptors" : nil,
        after.threads > before.threads ? "threads" : nil, after.mappings > before.mappings + 20 ? "mappings" : nil,
        after.memory > before.memory + 768 ? "memory" : nil,
    ].compactMap(\.self)
    guard leaked.isEmpty else { fail("leaked: \(leaked.joined(separator: ", "))") }
}
