/// A store of this library. Unlike one of a program, it can be told what a change means, and its
/// suite has a failure handler.
protocol OwnStore<Default>: DefaultStoreType {
    /// Returns the setting of the store if that is the type of its values; `nil` if it is a part of
    /// one, or a store of a program.
    // Generic, because a cast to a store of one type takes 9,000 instructions.
    func setting<Value>(of type: Value.Type) -> Setting<Value>?

    /// Changes the value in place. See ``Setting/change(recovering:from:_:)``.
    func change<Result>(
        recovering: Bool, from start: @autoclosure () -> Default?,
        _ body: (inout Default?, inout ChangeIntent) throws -> Result
    ) throws -> Result

    func report(_ error: DefaultsError)
    /// See ``DefaultStoreType/key``.
    var storedKey: String? { get }
}

extension DefaultStoreType {
    /// The setting of the store; `nil` if it is a part of one, or a store of a program.
    var ownSetting: Setting<Default>? { (self as? any OwnStore)?.setting(of: Default.self) }

    /// Changes the value in place.
    ///
    /// - Parameter start: Called only if `recovering` is true. It then returns a value.
    func changeInPlace<Result>(
        recovering: Bool, from start: @autoclosure () -> Default?,
        _ body: (inout Default?, inout ChangeIntent) throws -> Result
    ) throws -> Result {
        if let setting = ownSetting { return try setting.change(recovering: recovering, from: start(), body) }
        if let store = self as? any OwnStore<Default> {
            return try store.change(recovering: recovering, from: start(), body)
        }
        return try editStored(recovering: recovering, from: start(), body)
    }

    /// Changes the value of a store of a program, which only receives the new value.
    func editStored<Result>(
        recovering: Bool, from start: @autoclosure () -> Default?,
        _ body: (inout Default?, inout ChangeIntent) throws -> Result
    ) throws -> Result {
        func edit(_ stored: inout Default?) throws -> Result {
            var (edit, intent) = (StoreEdit(stored ?? (recovering ? start() : nil)), ChangeIntent.editing)
            let result = try body(&edit.value, &intent)
            if edit.isChange || intent == .assigning { stored = edit.value }
            return result
        }
        var hasRun = false
        do {
            return try updateStored { stored in
                hasRun = true
                return try edit(&stored)
            }
        } catch let error as DefaultsError where recovering && error.kind == .unreadable && !hasRun {
            var stored: Default?
            let result = try edit(&stored)
            if let stored { try save(stored) }
            return result
        }
    }
}
