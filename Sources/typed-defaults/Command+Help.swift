// What `help` prints.
extension Command {
    /// All commands on one screen.
    static var overview: String {
        let lines = allCases.map { command in
            func padded(_ text: String, to length: Int) -> String {
                text + String(repeating: " ", count: max(0, length - text.count))
            }
            return "  \(padded(command.rawValue, to: 6)) \(padded(command.form, to: 15))  \(command.summary)"
        }
        return """
            Usage: typed-defaults COMMAND [SUITE …]

            \(lines.joined(separator: "\n"))

            \(suiteNames)
            “typed-defaults help COMMAND” lists its options. --version prints the version.

            \(exitCodes)
            """
    }

    /// How to call this command.
    var help: String {
        let usage = [rawValue, form].filter { !$0.isEmpty }.joined(separator: " ")
        let paragraphs = ["Usage: typed-defaults \(usage)", details, form.contains("SUITE") ? Self.suiteNames : ""]
        return (paragraphs + [Self.exitCodes]).filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private static let suiteNames = """
        SUITE is a name. If it contains “/”, it is the path of a settings file.
        “--” ends the options.
        """

    private static let exitCodes = """
        Exit codes: 0 done; 1 not found, a difference, or a problem; 2 wrong usage;
        3 the suite cannot be read or written, or a value is refused.
        """

    private static let jsonForms = """
        JSON is exact: 2 is an integer, 2.0 a double. Values that JSON does not have
        are written as {"$data": "base64"}, {"$date": seconds since 2001-01-01 UTC}
        and {"$double": "inf"} (or "-inf", "nan", the bits). A dictionary whose only key
        begins with “$” is {"$dictionary": {…}}.
        """

    private static let damage = """
        If the settings file is damaged, this prints what can be read and exits with 3.
        """

    /// The arguments.
    var form: String {
        switch self {
        case .suites: ""
        case .path, .list, .watch, .info, .repair: "SUITE"
        case .get: "SUITE KEY"
        case .set: "SUITE KEY VALUE"
        case .remove: "SUITE KEY…"
        case .export: "SUITE [FILE]"
        case .import: "SUITE FILE"
        case .diff: "SUITE OTHER"
        case .check: "SUITE|FILE"
        case .help: "[COMMAND]"
        }
    }

    /// A phrase of at most 54 characters.
    private var summary: String {
        switch self {
        case .suites: "prints the names of your suites"
        case .path: "prints the path of the settings file"
        case .list: "prints keys and values, one key on each line"
        case .get: "prints a value as JSON (KEY.NAME for a part of it)"
        case .set: "stores a JSON value (KEY.NAME for a part of it)"
        case .remove: "removes keys as one change (KEY.NAME for a part)"
        case .export: "writes all values as JSON or as a property list"
        case .import: "adds the contents of FILE as one change"
        case .diff: "compares SUITE with another suite or an export"
        case .watch: "prints each change until you stop it"
        case .info: "prints location, size, key count and damaged copies"
        case .check: "prints problems, and values that can be recovered"
        case .repair: "copies damaged bytes, keeps what can be read"
        case .help: "prints this text, or the options of a command"
        }
    }

    private var details: String {
        switch self {
        case .suites:
            """
            Prints the names of the suites in $XDG_CONFIG_HOME or ~/.config, one on each
            line, sorted. On Apple platforms, the system manages named suites together
            with the preferences of other programs; “defaults domains” lists them all.
            """
        case .path:
            """
            Prints the path of the settings file, which may not exist yet. On Apple
            platforms, the system manages named suites, and their paths are not known.
            """
        case .list:
            """
            Prints each key with its value as JSON, shortened to 100 characters.

              --json, --plist  prints whole values in the format of “export”

            \(Self.damage)
            """
        case .get:
            """
            Prints the value as JSON. CameraConfig.size is the entry “size” of the value
            of “CameraConfig”. windows.0 is the first element of the array “windows”.
            If a key is itself named “CameraConfig.size”, its value is printed.

              --raw  prints a string without quotes and escapes

            \(Self.jsonForms)

            \(Self.damage)
            """
        case .set:
            """
            Stores VALUE under KEY. If no key is named KEY, a dot in KEY leads to a part of
            a value, as for “get”: limits.burst is the entry “burst” of the value of
            “limits”, which must exist. The other parts stay. If this creates the
            suite, a message on standard error says so.

              --string  VALUE is plain text, not JSON
              --key     KEY is the name of a key, even if it contains dots
              --part    KEY is the path of a part; adds the part if it does not exist

            \(Self.jsonForms)
            """
        case .remove:
            """
            Removes the keys as one change. If no key is named KEY, a dot in KEY leads to a
            part of a value, as for “get”. If one of them does not exist, none is removed.
            """
        case .export:
            """
            Writes all keys and values to FILE, or to standard output if FILE is “-” or
            missing. Only you can read FILE.

              --json   writes JSON, which “import” reads back exactly (the default)
              --plist  writes a binary property list, or fails if a value does not fit

            \(Self.jsonForms)

            If the settings file is damaged, this exits with 3. Standard output receives
            what can be read; FILE is not written.
            """
        case .import:
            """
            Stores the keys and values of FILE as one change. If FILE is “-”, this reads
            standard input. Other keys keep their values. FILE is JSON in the format of
            “export”, or a property list (binary or XML).

            An export records which migrations its values have been through. The tool
            cannot migrate values. It refuses FILE if the migrations differ from those of
            SUITE. The program itself can migrate and import the values.

              --replace  first removes everything from SUITE, its history of migrations
                         included; at its next launch, your program migrates the
                         values of FILE

            \(Self.jsonForms)
            """
        case .diff:
            """
            Prints what differs, sorted by key: lines with “-” are in SUITE, lines with
            “+” in OTHER. Dictionaries are compared by their parts.

            OTHER is a suite, an exported file, or “-” for standard input. If OTHER is both
            a suite and a file in this folder, the suite is used.
            """
        case .watch:
            """
            Prints the key and the new value whenever any process changes a value, until
            you stop the tool or close its output. If a key changes several times in
            quick succession, this may print only the last value.

              --json  prints a JSON object on each line: "key", "old" and "new"; an
                      added key has no "old", and a removed key has no "new"
            """
        case .info:
            "Prints the location, the size and the state of the settings file, and the\n"
                + "copies of damaged values that the library has set aside."
        case .check:
            """
            Prints the problems of a settings file, and the values that can be recovered
            from it and from the damaged copies that the library has set aside.

              --json  prints the recovered values, for “import”
            """
        case .repair:
            """
            Copies damaged bytes to a file beside the suite, and makes the suite usable
            again. Programs do this themselves when they open the file, unless its header
            is damaged. In that case, this command copies the whole file, and stores the
            values that “check” can recover.
            """
        case .help:
            "Prints all commands, or how to call COMMAND."
        }
    }
}
