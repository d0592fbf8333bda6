import Foundation

/// Shows and changes a suite from the command line.
@main enum Tool {
    static func main() {
        // A write to a closed pipe must fail and not end the process.
        signal(SIGPIPE, SIG_IGN)
        do throws(Failure) {
            try run(words())
        } catch {
            Output.printDiagnostic(error.message)
            exit(error.code.rawValue)
        }
        exit(Failure.Code.done.rawValue)
    }

    /// Returns the arguments. `CommandLine.arguments` would replace bytes that are not UTF-8, so
    /// the tool would store a different value.
    private static func words() throws(Failure) -> [String] {
        var words: [String] = []
        for index in 1..<max(Int(CommandLine.argc), 1) {
            guard let bytes = CommandLine.unsafeArgv[index] else { break }
            let word = String(cString: bytes)
            guard word.utf8.count == strlen(bytes), memcmp(Array(word.utf8), bytes, word.utf8.count) == 0 else {
                throw .usage("argument \(index) is not valid UTF-8")
            }
            words.append(word)
        }
        return words
    }

    /// The version of this package.
    static let version = "0.1.0"

    private static func run(_ words: some Sequence<String>) throws(Failure) {
        let arguments = try Arguments(words)
        if arguments.options.contains(.version) { return try Output.print(version) }
        guard let name = arguments.positional.first else {
            guard arguments.options.contains(.help) else { throw .usage("a command is missing") }
            return try Output.print(Command.overview)
        }
        let command = try Command(named: name)
        if arguments.options.contains(.help) { return try Output.print(command.help) }
        try command.run(arguments)
    }
}

/// The reason for a failure, in one line, and the exit code.
struct Failure: Error {
    enum Code: Int32 {
        case done = 0
        /// No such key or suite, `diff` found a difference, or `check` a problem.
        case found = 1
        case usage = 2
        /// The suite cannot be read or written, or a value is refused.
        case unavailable = 3
    }

    let code: Code
    let message: String

    static func usage(_ message: String, of command: Command? = nil) -> Failure {
        let help = message.hasSuffix("?") ? "" : "; see typed-defaults help\(command.map { " \($0)" } ?? "")"
        return Failure(code: .usage, message: message + help)
    }
    static func missing(_ message: String) -> Failure { Failure(code: .found, message: message) }
    static func unavailable(_ message: String) -> Failure { Failure(code: .unavailable, message: message) }
}
