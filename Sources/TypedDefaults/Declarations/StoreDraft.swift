/// A copy of a config to edit, such as in a preference pane with *Apply* and *Revert*.
///
/// ```swift
/// @State private var draft = AnyStore<CameraConfig>.persistent().draft()
///
/// TextField("Name", text: $draft.value.name)
/// Button("Apply") { try? draft.apply() }.disabled(!draft.isChanged)
/// ```
///
/// A draft does not follow the store: it keeps the values of the moment at which it was made,
/// applied or reverted.
public struct StoreDraft<Config: DefaultConfig>: Sendable {
    /// The edited copy.
    public var value: Config {
        get { edit.value }
        set { edit.value = newValue }
        _modify { yield &edit.value }
    }
    private var edit: InPlaceEdit<Config>
    private let store: AnyStore<Config>

    fileprivate init(_ store: AnyStore<Config>) {
        self.store = store
        edit = store.edit()
    }

    /// Whether a property was edited since the draft was made, applied or reverted.
    public var isChanged: Bool {
        // A value that cannot be encoded was edited.
        do { return try edit.isChange } catch { return true }
    }

    /// Stores the edited properties in one step, and takes over the other ones from the store,
    /// where another window may have changed them.
    ///
    /// - Throws: A ``DefaultsError``, such as ``DefaultsError/Kind/invalid`` if an edited property
    ///   breaks a rule. Then nothing is written, and the draft keeps its value.
    public mutating func apply() throws {
        try store.save(edit)
        revert()
    }

    /// Makes the same change to contents, such as in a ``DefaultsSuite/update(_:)``, together with
    /// other changes.
    ///
    /// ```swift
    /// try suite.update { contents in
    ///     try draft.apply(to: &contents)
    ///     contents[.launches] = 0
    /// }
    /// draft.revert()
    /// ```
    ///
    /// The draft stays as it is, because the update may still fail.
    ///
    /// - Parameters:
    ///   - contents: The contents of the suite of the store.
    ///   - key: The key of the store.
    public func apply(
        to contents: inout SuiteContents, key: DefaultKey<Config> = DefaultKey(Config.self)
    ) throws {
        if try edit.isChange { try edit.apply(to: &contents[key]) }
    }

    /// Makes the draft equal to the value of the store.
    public mutating func revert() { self = StoreDraft(store) }
}

extension DefaultStoreType where Default: DefaultConfig {
    /// Returns a copy of the value to edit. See ``StoreDraft``.
    public func draft() -> StoreDraft<Default> { StoreDraft(AnyStore(self)) }
}
