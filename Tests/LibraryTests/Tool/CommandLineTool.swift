#if os(macOS) || os(Linux)
    import TestSupport
    import Foundation
    import Testing

    /// The program `typed-defaults`, run with a settings folder of its own.
    struct CommandLineTool {
        struct Outcome {
            let code: Int32
            let output: Data
            let errors: String
            var text: String { String(decoding: output, as: UTF8.self) }
            /// The lines of standard output.
            var lines: [String] { text.split(separator: "\n").map(String.init) }
        }

        let folder: URL

        /// Runs `body` with a new folder, and removes the folder.
        static func run(_ body: (CommandLineTool) throws -> Void) throws {
            let folder = try makeFile().deletingLastPathComponent()
            defer { try? FileManager.default.removeItem(at: folder) }
            try body(CommandLineTool(folder: folder))
        }

        /// Returns the file of the suite with a name.
        func file(_ name: String) -> URL { folder.appending(path: "\(name).defaults") }

        var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
        }

        @discardableResult
        func callAsFunction(_ arguments: String..., input: Data = Data()) throws -> Outcome {
            try self(arguments, input: input)
        }

        /// Runs the program.
        ///
        /// A suite name becomes the path of its file, because on Apple platforms a named suite is
        /// in the user's own preferences.
        @discardableResult
        func callAsFunction(_ arguments: [String], input: Data = Data()) throws -> Outcome {
            var arguments = arguments
            if arguments.count > 1, arguments[0] != "help", !arguments[1].isEmpty, arguments[1].allSatisfy(\.isLetter) {
                arguments[1] = file(arguments[1]).path
            }
            return try run(arguments, input: input)
        }

        /// Runs the program with exactly these arguments.
        func run(_ arguments: [String], input: Data = Data()) throws -> Outcome {
            try run(#require(Self.program, "the program is not beside the tests"), arguments, input: input)
        }

        /// Runs a shell script, whose `$0` is the program.
        func run(inShell script: String) throws -> Outcome {
            let program: URL = try #require(Self.program, "the program is not beside the tests")
            return try run(URL(filePath: "/bin/sh"), ["-c", script, program.path])
        }

        private func run(_ program: URL, _ arguments: [String], input: Data = Data()) throws -> Outcome {
            let process = Process()
            process.executableURL = program
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": folder.path]) { $1 }
            // Files, because a full pipe would stop the program.
            let place = folder.deletingLastPathComponent().appending(
                path: "\(folder.lastPathComponent)-\(UUID().uuidString)")
            let urls = ["in", "out", "err"].map { place.appendingPathExtension($0) }
            for url in urls { try (url == urls[0] ? input : Data()).write(to: url) }
            defer { for url in urls { try? FileManager.default.removeItem(at: url) } }
            process.standardInput = try FileHandle(forReadingFrom: urls[0])
            process.standardOutput = try FileHandle(forWritingTo: urls[1])
            process.standardError = try FileHandle(forWritingTo: urls[2])
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationReason == .exit, "it ended by a signal")
            return Outcome(
                code: process.terminationStatus, output: try Data(contentsOf: urls[1]),
                errors: try String(contentsOf: urls[2], encoding: .utf8))
        }

        /// Starts the program, whose output and errors are read while it runs.
        static func start(_ arguments: String...) throws -> (process: Process, output: Pipe, errors: Pipe) {
            let (process, output, errors) = (Process(), Pipe(), Pipe())
            process.executableURL = program
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            return (process, output, errors)
        }

        /// Beside the test bundle, which is the running program on Linux and an argument of it on
        /// macOS.
        static let program: URL? = CommandLine.arguments.lazy.compactMap { argument -> URL? in
            let parts = URL(filePath: argument).pathComponents
            guard let bundle = parts.firstIndex(where: { $0.hasSuffix(".xctest") }) else { return nil }
            let folder = parts[..<bundle].dropFirst().reduce(URL(filePath: "/")) { $0.appending(path: $1) }
            let program = folder.appending(path: "typed-defaults")
            return FileManager.default.isExecutableFile(atPath: program.path) ? program : nil
        }.first
    }
#endif
