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
    public var value: Config
    private var base: Config
    private let store: AnyStore<Config>

    fileprivate init(_ store: AnyStore<Config>) {
        self.store = store
        base = store.value
        value = base
    }

    /// Whether a property was edited since the draft was made, applied or reverted.
    public var isChanged: Bool {
        // A value that cannot be encoded was edited.
        do throws(DefaultsError) { return try !changes().isEmpty } catch { return true }
    }

    /// Stores the edited properties in one step, and takes over the other ones from the store,
    /// where another window may have changed them.
    ///
    /// - Throws: A ``DefaultsError``, such as ``DefaultsError/Kind/invalid`` if an edited property
    ///   breaks a rule. Then nothing is written, and the draft keeps its value.
    public mutating func apply() throws {
        let changes = try changes()
        if !changes.isEmpty {
            try store.update { stored in
                var entries = try Self.entries(of: stored)
                for (key, entry) in changes { entries[key] = entry }
                guard let new = Config(PropertyList.dictionary(entries).object) else {
                    throw DefaultsError(
                        .refused, type: "\(Config.self)", reason: "the edited properties do not fit the stored ones")
                }
                stored = new
            }
        }
        revert()
    }

    /// Makes the draft equal to the value of the store.
    public mutating func revert() { self = StoreDraft(store) }

    /// The edited properties by key; `nil` for one that is no longer encoded.
    private func changes() throws(DefaultsError) -> [String: PropertyList?] {
        let (old, new) = (try Self.entries(of: base), try Self.entries(of: value))
        var changes: [String: PropertyList?] = new.filter { old[$0.key] != $0.value }
        for key in old.keys where new[key] == nil { changes[key] = .some(nil) }
        return changes
    }

    // Without rules, which the store applies.
    private static func entries(of config: Config) throws(DefaultsError) -> [String: PropertyList] {
        if case .dictionary(let entries) = try PropertyList(config.serialize()) { return entries }
        throw DefaultsError(.refused, type: "\(Config.self)", reason: "a draft needs a type with properties")
    }
}

extension DefaultStoreType where Default: DefaultConfig {
    /// Returns a copy of the value to edit. See ``StoreDraft``.
    public func draft() -> StoreDraft<Default> { StoreDraft(AnyStore(self)) }
}
