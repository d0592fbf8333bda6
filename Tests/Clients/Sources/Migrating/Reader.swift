import TypedDefaults

/// How text is shown. Version 2 added `lineSpacing`, which needs no migration.
struct TextConfig: DefaultConfig, Equatable {
    static let key = "Text"
    enum Theme: String, Codable { case paper, sepia, night }
    var fontSize = 14.0
    var theme = Theme.paper
    var lineSpacing = 1.25
}

/// The layout of a page. Version 1 stored each property under a plain key.
struct PageConfig: DefaultConfig, Equatable {
    static let key = "Page"
    var leftMargin = 20
    var rightMargin = 20
    var hyphenates = false
}

extension DefaultKey<String> {
    static let currentBook = DefaultKey("currentBook", default: "")
}

/// The settings of one user of a reader for books.
struct Reader {
    let settings: DefaultsSuite

    init(user: String, in suite: DefaultsSuite = .standard) throws {
        try self.init(settings: suite.scoped("\(user)/"))
    }

    init(settings: DefaultsSuite) throws {
        self.settings = settings
        try settings.migrate(.reader)
    }

    var text: PersistentStore<TextConfig> { PersistentStore(in: settings) }
    var page: PersistentStore<PageConfig> { PersistentStore(in: settings) }
    var currentBook: String {
        get { settings[.currentBook] }
        nonmutating set { settings[.currentBook] = newValue }
    }
}
