import TypedDefaults

enum Migration {
    /// A value of version 1 that has another type than version 1 wrote.
    struct UnexpectedValue: Error, Equatable { let key: String }

    /// Moves the settings of version 1 to those of version 2 as one commit.
    ///
    /// If it throws, the settings stay as they are. A later call tries again.
    static func run(in suite: DefaultsSuite) throws {
        guard try suite.read(.settingsVersion) < 2 else { return }
        try suite.update { contents in
            // Another process may have migrated the settings in the meantime.
            guard contents[.settingsVersion] < 2 else { return }
            if let book = try contents.take("lastBook", as: String.self) {
                contents[.currentBook] = book
            }
            if let left = try contents.take("marginLeft", as: Int.self) {
                contents[PageConfig.self].leftMargin = left
            }
            if let right = try contents.take("marginRight", as: Int.self) {
                contents[PageConfig.self].rightMargin = right
            }
            if let hyphenates = try contents.take("hyphenate", as: Bool.self) {
                contents[PageConfig.self].hyphenates = hyphenates
            }
            contents[.settingsVersion] = 2
        }
    }
}

extension SuiteContents {
    /// Removes a value and returns it.
    fileprivate mutating func take<Value>(_ key: String, as type: Value.Type) throws -> Value? {
        guard let stored = self[key] else { return nil }
        guard let value = stored.object as? Value else { throw Migration.UnexpectedValue(key: key) }
        self[key] = nil
        return value
    }
}
