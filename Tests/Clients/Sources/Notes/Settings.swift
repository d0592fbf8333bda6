import TypedDefaults

/// The settings of the editor, which change together.
struct EditorConfig: DefaultConfig {
    static let key = "editor"
    enum Theme: String, Codable { case light, dark }
    var fontSize = 12.0
    var theme = Theme.light
    var wrapsLines = true
}

extension DefaultKey<String> {
    static let author = DefaultKey("author", default: "anonymous")
}
extension DefaultKey<Int> {
    static let notesPerPage = DefaultKey("notesPerPage", default: 20)
}

/// A setting that the command line can read and write as text.
struct Setting: Sendable {
    let name: String
    let get: @Sendable (DefaultsSuite) throws -> String
    /// Stores a value, or restores the default for `nil`.
    let set: @Sendable (DefaultsSuite, String?) throws -> Void
    let observe: @Sendable (DefaultsSuite, @escaping @Sendable (String) -> Void) -> ObservationToken

    static let all = [
        Setting(.author) { $0 },
        Setting(.notesPerPage) { Int($0) },
        Setting("fontSize", \.fontSize) { Double($0) },
        Setting("theme", \.theme) { EditorConfig.Theme(rawValue: $0) },
        Setting("wrapsLines", \.wrapsLines) { Bool($0) },
    ]

    /// A setting with a key of its own.
    init<Value: Sendable>(_ key: DefaultKey<Value>, parse: @escaping @Sendable (String) -> Value?) {
        name = key.name
        get = { "\(try $0.read(key))" }
        set = { suite, text in
            // Not `suite.remove(key)`, which does not throw.
            guard let text else { return try suite.update { $0.remove(key) } }
            guard let value = parse(text) else { throw Failure("\(text) is not a value of \(key.name)") }
            try suite.update(key) { $0 = value }
        }
        observe = { suite, body in
            suite.observe(key) { body("\($0.newValue ?? key.defaultValue)") }
        }
    }

    /// A property of the config struct.
    init<Value: Equatable & Sendable>(
        _ name: String, _ path: WritableKeyPath<EditorConfig, Value> & Sendable,
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.name = name
        get = { "\((try PersistentStore(in: $0).load() ?? EditorConfig())[keyPath: path])" }
        set = { suite, text in
            guard let value = text.map(parse) ?? EditorConfig()[keyPath: path] else {
                throw Failure("\(text ?? "") is not a value of \(name)")
            }
            try PersistentStore<EditorConfig>(in: suite).update { $0[keyPath: path] = value }
        }
        observe = { suite, body in
            PersistentStore<EditorConfig>(in: suite).observe(path) { change in
                if let value = change.newValue { body("\(value)") }
            }
        }
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
