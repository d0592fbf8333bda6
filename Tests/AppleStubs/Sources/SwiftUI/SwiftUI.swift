// The part of SwiftUI that the adapter needs, with the same isolation as the real module: `View`
// and its body are isolated to the main actor, a `Binding` may be sent.
// https://developer.apple.com/documentation/swiftui
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View { public var body: Never { fatalError("never made") } }

public struct Text: View {
    public let content: String
    public init(_ content: String) { self.content = content }
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/transaction
public struct Transaction: Sendable { public init() {} }

// https://developer.apple.com/documentation/swiftui/dynamicproperty
public protocol DynamicProperty {}

// https://developer.apple.com/documentation/swiftui/binding/init(get:set:)-7ufcp
@dynamicMemberLookup @propertyWrapper public struct Binding<Value> {
    private let get: @isolated(any) @Sendable () -> Value
    private let set: @isolated(any) @Sendable (Value) -> Void

    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {
        self.get = get
        self.set = set
    }

    // https://developer.apple.com/documentation/swiftui/binding/init(get:set:)-6g3d5
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value,
        set: @escaping @isolated(any) @Sendable (Value, Transaction) -> Void
    ) {
        let set = unsafeBitCast(set, to: (@Sendable (Value, Transaction) -> Void).self)
        self.init(get: get) { set($0, Transaction()) }
    }

    // Called on the main actor, where views are, which `@isolated(any)` cannot express.
    public var wrappedValue: Value {
        get { unsafeBitCast(get, to: (@Sendable () -> Value).self)() }
        nonmutating set { unsafeBitCast(set, to: (@Sendable (Value) -> Void).self)(newValue) }
    }
    public var projectedValue: Binding<Value> { self }

    // https://developer.apple.com/documentation/swiftui/binding/subscript(dynamicmember:)
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        // Safe: used on the main actor, where views are.
        nonisolated(unsafe) let (whole, keyPath) = (self, keyPath)
        return Binding<Subject> {
            whole.wrappedValue[keyPath: keyPath]
        } set: {
            whole.wrappedValue[keyPath: keyPath] = $0
        }
    }
}

extension Binding: Sendable where Value: Sendable {}

// https://developer.apple.com/documentation/swiftui/state
@propertyWrapper public struct State<Value>: DynamicProperty {
    private final class Box {
        var value: Value
        init(_ value: Value) { self.value = value }
    }
    private let box: Box
    public init(wrappedValue value: Value) { box = Box(value) }
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
}

// https://developer.apple.com/documentation/swiftui/environmentkey
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

// https://developer.apple.com/documentation/swiftui/environmentvalues
public struct EnvironmentValues {
    private var values: [ObjectIdentifier: Any] = [:]
    public init() {}

    /// The values of the view that is being drawn.
    // Safe: views are drawn on the main actor, and read these values only there.
    nonisolated(unsafe) static var current = EnvironmentValues()

    public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
        get { values[ObjectIdentifier(key)].map { $0 as! Key.Value } ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

// https://developer.apple.com/documentation/swiftui/environment, for use in a `body`.
@propertyWrapper public struct Environment<Value>: DynamicProperty {
    private let keyPath: KeyPath<EnvironmentValues, Value>
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }
    public var wrappedValue: Value { EnvironmentValues.current[keyPath: keyPath] }
}

extension View {
    // https://developer.apple.com/documentation/swiftui/view/environment(_:_:)
    public func environment<Value>(
        _ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
    ) -> some View {
        EnvironmentView(content: self) { $0[keyPath: keyPath] = value }
    }
}

// https://developer.apple.com/documentation/swiftui/viewbuilder
@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<repeat each Content> { TupleView(content: (repeat each content)) }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> {
        .first(first)
    }
    public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> {
        .second(second)
    }
}

// https://developer.apple.com/documentation/swiftui/emptyview
public struct EmptyView: View {
    public nonisolated init() {}
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/_conditionalcontent
public enum _ConditionalContent<First: View, Second: View>: View {
    case first(First)
    case second(Second)
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/toggle
public struct Toggle: View {
    fileprivate let title: String
    fileprivate let isOn: Binding<Bool>
    public init(_ title: String, isOn: Binding<Bool>) { (self.title, self.isOn) = (title, isOn) }
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/button
public struct Button: View {
    fileprivate let title: String
    public init(_ title: String, action: @escaping @MainActor () -> Void) { self.title = title }
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/form
public struct Form<Content: View>: View {
    fileprivate let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/app, scene and windowgroup
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
extension App { public static func main() { _ = Self().body } }
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: Scene {}
// https://developer.apple.com/documentation/swiftui/scenebuilder
@resultBuilder public struct SceneBuilder {
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) { _ = content() }
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/previewmodifier
@MainActor @preconcurrency public protocol PreviewModifier {
    associatedtype Body: View
    associatedtype Context = Void
    typealias Content = PreviewModifierContent
    static func makeSharedContext() async throws -> Context
    @ViewBuilder @MainActor @preconcurrency func body(content: Content, context: Context) -> Body
}

extension PreviewModifier where Context == Void {
    public static func makeSharedContext() async throws {}
}

// https://developer.apple.com/documentation/swiftui/previewmodifiercontent
public struct PreviewModifierContent: View {
    fileprivate let view: any View
    public var body: Never { fatalError("drawn by the system") }
}

// What the system does with views

/// A view without a `body`.
@MainActor private protocol Drawn {
    var lines: [String] { get }
}

/// Returns the text that a view shows, line by line.
@MainActor public func draw(_ view: some View) -> [String] {
    if let drawn = view as? any Drawn { drawn.lines } else { draw(view.body) }
}

/// Returns the text that a preview shows, line by line.
@MainActor public func drawPreview<Modifier: PreviewModifier>(
    _ modifier: Modifier, _ view: some View
) -> [String] where Modifier.Context == Void {
    draw(modifier.body(content: PreviewModifierContent(view: view), context: ()))
}

extension PreviewModifierContent: Drawn { fileprivate var lines: [String] { draw(view) } }
extension Text: Drawn { fileprivate var lines: [String] { [content] } }
extension Toggle: Drawn { fileprivate var lines: [String] { ["\(title): \(isOn.wrappedValue ? "on" : "off")"] } }
extension Button: Drawn { fileprivate var lines: [String] { [title] } }
extension Form: Drawn { fileprivate var lines: [String] { draw(content) } }

extension EmptyView: Drawn { fileprivate var lines: [String] { [] } }
extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("drawn by the system") }
}
extension Optional: Drawn where Wrapped: View { fileprivate var lines: [String] { map { draw($0) } ?? [] } }
extension _ConditionalContent: Drawn {
    fileprivate var lines: [String] {
        switch self {
        case .first(let view): draw(view)
        case .second(let view): draw(view)
        }
    }
}

public struct TupleView<each Content: View>: View, Drawn {
    // Safe: created and drawn on the main actor.
    nonisolated(unsafe) fileprivate let content: (repeat each Content)
    fileprivate nonisolated init(content: (repeat each Content)) { self.content = content }
    public var body: Never { fatalError("drawn by the system") }
    fileprivate var lines: [String] {
        var lines: [String] = []
        for view in repeat each content { lines += draw(view) }
        return lines
    }
}

private struct EnvironmentView<Content: View>: View, Drawn {
    let content: Content
    let change: (inout EnvironmentValues) -> Void
    var body: Never { fatalError("drawn by the system") }
    var lines: [String] {
        let outer = EnvironmentValues.current
        defer { EnvironmentValues.current = outer }
        change(&EnvironmentValues.current)
        return draw(content)
    }
}
