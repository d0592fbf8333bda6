import Foundation

/// Runs the program `Notes` with a home folder of its own, which it removes at the end.
final class Tool {
    struct ExitStatus: Error, Equatable { let code: Int32 }

    let home: URL
    var file: URL { home.appending(path: "com.example.notes.defaults") }

    init() throws {
        home = .temporaryDirectory.appending(path: "NotesTests/\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: home) }

    /// - Parameter settings: The settings for this run.
    @discardableResult func run(_ arguments: String..., settings: [String] = []) throws -> String {
        let running = try Running(arguments + settings, home: home)
        var output = ""
        while let line = running.nextLine() { output += line + "\n" }
        let code = running.stop()
        guard code == 0 else { throw ExitStatus(code: code) }
        return output
    }

    func start(_ arguments: String...) throws -> Running { try Running(arguments, home: home) }
}

/// A process that is killed after 20 seconds, so that a test fails instead of waiting forever.
final class Running {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var bytes = Data()

    init(_ arguments: [String], home: URL) throws {
        process.executableURL = Self.products.appending(path: "Notes")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["XDG_CONFIG_HOME": home.path, "HOME": home.path]) { $1 }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let id = process.processIdentifier
        timer.schedule(deadline: .now() + 20)
        timer.setEventHandler { kill(id, SIGKILL) }
        timer.resume()
    }

    private let timer = DispatchSource.makeTimerSource()

    func nextLine() -> String? {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                defer { bytes.removeSubrange(...end) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            bytes += more
        }
    }

    /// Ends standard input, waits for the process and returns its exit status.
    func stop() -> Int32 {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        timer.cancel()
        return process.terminationStatus
    }

    private static var products: URL {
        #if os(macOS)
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }!.bundleURL.deletingLastPathComponent()
        #else
            Bundle.main.executableURL!.deletingLastPathComponent()
        #endif
    }
}
