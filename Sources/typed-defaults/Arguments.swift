/// The arguments of a call: positional ones and options.
struct Arguments {
    enum Option: String, CaseIterable {
        case json = "--json"
        case plist = "--plist"
        case string = "--string"
        case key = "--key"
        case part = "--part"
        case replace = "--replace"
        case raw = "--raw"
        case help = "--help"
        case version = "--version"
    }

    private(set) var positional: [String] = []
    private(set) var options: Set<Option> = []

    init(_ words: some Sequence<String>) throws(Failure) {
        var takesOptions = true
        for word in words {
            if takesOptions, word == "--" {
                takesOptions = false
            } else if takesOptions, Self.isOption(word) {
                guard let option = word == "-h" ? .help : Option(rawValue: word) else {
                    let hint = didYouMean(word, in: Option.allCases.map(\.rawValue))
                    throw .usage("unknown option “\(word)” (to pass it as an argument, put “--” before it)\(hint)")
                }
                options.insert(option)
            } else {
                positional.append(word)
            }
        }
    }

    /// Returns whether the word is an option. “-” is standard input, and “-5” is a value.
    private static func isOption(_ word: String) -> Bool {
        guard word.hasPrefix("-"), let second = word.dropFirst().first else { return false }
        return !("0"..."9").contains(second)
    }
}
