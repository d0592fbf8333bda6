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
        SUITE is a name, or with a “/” in it the path of a settings file. “--” ends
        the options.
        """

    private static let exitCodes = """
        Exit codes: 0 done; 1 no such key or suite, or diff or check found something;
        2 wrong usage; 3 the suite cannot be read or written, or a value is refused.
        """

    private static let jsonForms = """
        JSON is exact: 2 is an integer, 2.0 a double. Values without a JSON form are
        {"$data": "base64"}, {"$date": seconds since 2001-01-01 UTC} and {"$double":
        "inf", "-inf", "nan" or its bits}. A dictionary whose only key begins with “$”
        is {"$dictionary": {…}}.
        """

    private static let damage = """
        If the file is damaged, this prints what can be read, writes no FILE, does not
        change the suite, and exits with 3.
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
        case .suites: "the names of your suites"
        case .path: "the path of its file"
        case .list: "keys and values, one key on each line"
        case .get: "the value, as JSON; KEY.NAME: a part of it"
        case .set: "stores VALUE, which is JSON; KEY.NAME: a part"
        case .remove: "removes the keys, as one change"
        case .export: "everything, as JSON or as a property list"
        case .import: "adds the contents of FILE, as one change"
        case .diff: "how OTHER, a suite or an exported file, differs"
        case .watch: "each change by any process, until stopped"
        case .info: "location, size, number of keys, damaged copies"
        case .check: "problems, and values to recover"
        case .repair: "sets damage aside and keeps what can be read"
        case .help: "this text, or what a command does"
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

              --json, --plist  the whole values, in the forms of export

            \(Self.damage)
            """
        case .get:
            """
            Prints the value as JSON. CameraConfig.size is the entry “size” of the value
            of “CameraConfig”, and windows.0 the first element of the array “windows”. A
            key that has such a name, dot included, comes first.

              --raw  prints a string as it is, without quotes and escapes

            \(Self.jsonForms)

            \(Self.damage)
            """
        case .set:
            """
            Stores VALUE under KEY. If KEY has a dot and no key has that name, it names a
            part of a value, as for “get”: limits.burst is the entry “burst” of the value
            of “limits”. The other parts stay. If this creates the suite, a message on
            standard error says so.

              --string  VALUE is the text itself, not JSON
              --key     KEY is the name of a key, dots included
              --part    KEY names a part, which is added if it does not exist

            \(Self.jsonForms)
            """
        case .remove:
            """
            Removes the keys as one change, or none of them if one does not exist. To
            remove a part of a value, set the value without it.
            """
        case .export:
            """
            Writes all keys and values to FILE, or to standard output if FILE is “-” or
            missing. Only the owner of FILE can read it.

              --json   JSON, which “import” reads back exactly (the default)
              --plist  a binary property list; refused if it cannot hold a value

            \(Self.jsonForms)

            \(Self.damage)
            """
        case .import:
            """
            Stores the keys and values of FILE, or of standard input if it is “-”, as
            one change. Other keys keep their values. FILE is JSON as “export” writes
            it, or a property list (binary or XML).

            An export records which migrations its values have been through. The tool
            cannot migrate values, so it refuses those of another version than SUITE.
            The program itself can migrate and import them.

              --replace  first removes everything from SUITE, its record of migrations
                         included; the program then migrates the values of FILE

            \(Self.jsonForms)
            """
        case .diff:
            """
            Prints what differs, sorted by key: lines with “-” are in SUITE, lines with
            “+” in OTHER. Dictionaries are compared by their parts.

            OTHER is a suite or an exported file, or standard input if it is “-”. If a
            suite and a file in this folder have that name, it is the suite.
            """
        case .watch:
            """
            Prints each key whose value any process changes, with its new value, until
            you stop the tool or close its output. If a key changes several times in
            quick succession, only its last value may be printed.

              --json  a JSON object on each line: "key", "old" and "new"; "old" is
                      missing for an added key, "new" for a removed one
            """
        case .info:
            "Prints the location, the size and the state of the file, and what the library\n"
                + "has set aside."
        case .check:
            """
            Prints the problems of a settings file, and the values that can be recovered
            from it and from the damaged copies that the library has set aside.

              --json  the recovered values, for “import”
            """
        case .repair:
            """
            Copies damage to a file beside the suite, and makes the suite usable again.
            Programs do this themselves when they open the file, unless its header is
            damaged. In that case, this command copies all bytes, and stores the values
            that “check” can recover.
            """
        case .help:
            "Prints all commands, or how to call COMMAND."
        }
    }
}
