import Foundation
import Testing

/// The programs with the spellings of the published articles, each in three modes.
///
/// A program prints the text that follows each `// =>` in its source.
@Suite(.serialized) struct ArticleTests {
    static let programs = ["000", "001", "002", "003", "004"].flatMap { article in
        ["", "Swift5", "MainActor"].map { "Article\(article)\($0)" }
    }

    @Test(arguments: programs) func aProgramPrintsWhatItsCommentsSay(_ name: String) throws {
        let home = URL.temporaryDirectory.appending(path: "ArticleTests/\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let expected = comments(of: name)
        try #require(!expected.isEmpty)
        #expect(try output(of: name, home: home) == expected)
    }

    @Test(arguments: programs.filter { $0.contains("001") }) func theSecondRunIsNotTheFirst(_ name: String) throws {
        let home = URL.temporaryDirectory.appending(path: "ArticleTests/\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        #expect(try output(of: name, home: home).first == "first run: true")
        #expect(try output(of: name, home: home).first == "first run: false")
    }

    /// The lines that a program prints with an empty folder for its settings.
    private func output(of name: String, home: URL) throws -> [String] {
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        let (process, pipe) = (Process(), Pipe())
        #if os(macOS)
            let products = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }!.bundleURL
        #else
            let products = Bundle.main.executableURL!
        #endif
        process.executableURL = products.deletingLastPathComponent().appending(path: name)
        process.environment = ProcessInfo.processInfo.environment
            .merging(["XDG_CONFIG_HOME": home.path, "HOME": home.path]) { $1 }
        // Another test of this process may have set it, and a child inherits it.
        process.environment?["TYPED_DEFAULTS_STANDARD"] = nil
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func comments(of name: String) -> [String] {
        let folder = URL(filePath: #filePath).appending(path: "../../../Sources/\(name)").standardized
        return ["main.swift", "Stream.swift"].flatMap { file in
            let source = (try? String(contentsOf: folder.appending(path: file), encoding: .utf8)) ?? ""
            return source.split(separator: "\n").compactMap { line in
                line.range(of: "// => ").map { String(line[$0.upperBound...]) }
            }
        }
    }
}
