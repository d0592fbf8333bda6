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

    private static func run(_ words: some Sequence<String>) throws(Failure) {
        let arguments = try Arguments(words)
        if arguments.options.contains(.help) { return try Output.print(usage) }
        guard let name = arguments.positional.first else { throw .usage("a command is missing") }
        guard let command = Command(rawValue: name) else { throw .usage("unknown command “\(name)”") }
        try command.run(arguments)
    }

    static let usage = """
        Usage: typed-defaults COMMAND SUITE …

          path   SUITE            the path of its file
          list   SUITE            keys and values; --json, --plist: like export
          get    SUITE KEY        the value, as JSON
          set    SUITE KEY VALUE  stores VALUE, which is JSON; --string: a text
          remove SUITE KEY…       removes the keys, as one change
          export SUITE [FILE]     everything, as JSON or --plist (binary property list)
          import SUITE FILE       adds FILE, or “-” for standard input, as one change
          watch  SUITE            each change by any process, until stopped
          info   SUITE            location, size, number of keys, damaged copies
          check  SUITE|FILE       problems, and values to recover (--json: for import)

        SUITE is a name, or with a “/” in it the path of a settings file. “--” ends
        the options. JSON is exact: 2 is an integer, 2.0 a double. Values without a
        JSON form are {"$data": "base64"}, {"$date": seconds since 2001-01-01 UTC} and
        {"$double": "inf", "-inf", "nan" or its bits}. A dictionary whose only key
        begins with “$” is {"$dictionary": {…}}.

        Exit codes: 0 done, 1 no such key or suite, or check found a problem,
        2 wrong usage, 3 the suite cannot be read or written, or a value is refused.
        If the file is damaged, list, get and export print what can be read, write no
        FILE, leave the suite as it is, and exit with 3.
        """
}

/// The reason for a failure, in one line, and the exit code.
struct Failure: Error {
    enum Code: Int32 {
        case done = 0
        /// No such key or suite, or `check` found a problem.
        case found = 1
        case usage = 2
        /// The suite cannot be read or written, or a value is refused.
        case unavailable = 3
    }

    let code: Code
    let message: String

    static func usage(_ message: String) -> Failure {
        Failure(code: .usage, message: "\(message); see typed-defaults --help")
    }
    static func missing(_ message: String) -> Failure { Failure(code: .found, message: message) }
    static func unavailable(_ message: String) -> Failure { Failure(code: .unavailable, message: message) }
}
