import TypedDefaults

extension DefaultsMigrator {
    /// The changes of the reader's settings.
    static let reader: DefaultsMigrator = {
        var migrator = DefaultsMigrator()
        migrator.register("2.0: one config for the page") { contents in
            if let left = try contents.take(DefaultKey<Int?>("marginLeft")) {
                contents[PageConfig.self].leftMargin = left
            }
            if let right = try contents.take(DefaultKey<Int?>("marginRight")) {
                contents[PageConfig.self].rightMargin = right
            }
            if let hyphenates = try contents.take(DefaultKey<Bool?>("hyphenate")) {
                contents[PageConfig.self].hyphenates = hyphenates
            }
        }
        migrator.register("2.0: currentBook") { $0.rename("lastBook", to: "currentBook") }
        return migrator
    }()
}

extension SuiteContents {
    /// Removes a value and returns it. Throws if the value has another type.
    fileprivate mutating func take<Value>(_ key: DefaultKey<Value?>) throws -> Value? {
        guard let value = try read(key) else { return nil }
        remove(key)
        return value
    }
}
