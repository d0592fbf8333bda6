import Observation
import TypedDefaults

public struct EditorConfig: DefaultConfig, Equatable {
    public static let key = "Editor"
    public var font = "Menlo"
    public var size = 12
    public var wraps = true
    public init() {}
}

/// A preference pane with *Apply* and *Revert*.
@MainActor @Observable public final class EditorPane {
    public var draft: StoreDraft<EditorConfig>

    public init(store: AnyStore<EditorConfig> = .persistent()) { draft = store.draft() }

    public func apply() throws { try draft.apply() }
    public func revert() { draft.revert() }
}
