// The part of SwiftUI that this package uses, with the isolation of the real module, and its
// availability if that is newer than the oldest systems of the package; the page of a group stands
// above it. Tests/AppleCheck compiles this file for Apple platforms. Drawing.swift has what the
// system does with views, for tests on Linux.
// https://developer.apple.com/documentation/swiftui
#if canImport(Darwin)
    @_exported public import Foundation
#endif

// https://developer.apple.com/documentation/swiftui/view and …/viewbuilder
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: View { public var body: Never { fatalError("never made") } }

@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> { TupleView((repeat each content), repeat each content) }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}
public struct TupleView<T>: View {
    // Safe: created and drawn on the main actor.
    public nonisolated(unsafe) var value: T
    nonisolated(unsafe) let views: [any View]
    nonisolated init<each Content: View>(_ value: T, _ content: repeat each Content) {
        self.value = value
        var views: [any View] = []
        repeat views.append(each content)
        self.views = views
    }
    public var body: Never { fatalError("drawn by the system") }
}
extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/animation, …/transaction
public struct Animation: Equatable, Sendable { public static let `default` = Animation() }
public struct Transaction {
    public var animation: Animation?
    public var disablesAnimations = false
    public init() {}

    /// The transaction of the change that is being made.
    // Safe: views are changed on the main actor.
    nonisolated(unsafe) static var current = Transaction()
}
// https://developer.apple.com/documentation/swiftui/withtransaction(_:_:)
public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
    let outer = Transaction.current
    defer { Transaction.current = outer }
    Transaction.current = transaction
    return try body()
}
// https://developer.apple.com/documentation/swiftui/withanimation(_:_:)
public func withAnimation<Result>(
    _ animation: Animation? = .default, _ body: () throws -> Result
) rethrows -> Result {
    var transaction = Transaction()
    transaction.animation = animation
    return try withTransaction(transaction, body)
}
extension View {
    // https://developer.apple.com/documentation/swiftui/view/transaction(_:)
    public func transaction(_ transform: @escaping (inout Transaction) -> Void) -> some View { self }
}

// https://developer.apple.com/documentation/swiftui/binding, …/dynamicproperty
public protocol DynamicProperty {
    mutating func update()
}
extension DynamicProperty { public mutating func update() {} }

@dynamicMemberLookup @propertyWrapper public struct Binding<Value> {
    private let get: @isolated(any) @Sendable () -> Value
    private let set: @isolated(any) @Sendable (Value, Transaction) -> Void
    public var transaction = Transaction()

    // https://developer.apple.com/documentation/swiftui/binding/init(get:set:)-7ufcp: drops the
    // transaction, https://github.com/pointfreeco/swift-perception/issues/58.
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {
        let set = unsafeBitCast(set, to: (@Sendable (Value) -> Void).self)
        self.init(get: get) { value, _ in set(value) }
    }

    // https://developer.apple.com/documentation/swiftui/binding/init(get:set:)-6g3d5
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value,
        set: @escaping @isolated(any) @Sendable (Value, Transaction) -> Void
    ) {
        self.get = get
        self.set = set
    }

    // https://developer.apple.com/documentation/swiftui/binding/animation(_:)
    public func animation(_ animation: Animation? = .default) -> Binding<Value> {
        var transaction = transaction
        transaction.animation = animation
        return self.transaction(transaction)
    }
    // https://developer.apple.com/documentation/swiftui/binding/transaction(_:)
    public func transaction(_ transaction: Transaction) -> Binding<Value> {
        var binding = self
        binding.transaction = transaction
        return binding
    }

    // Called on the main actor, where views are, which `@isolated(any)` cannot express.
    public var wrappedValue: Value {
        get { unsafeBitCast(get, to: (@Sendable () -> Value).self)() }
        nonmutating set { unsafeBitCast(set, to: (@Sendable (Value, Transaction) -> Void).self)(newValue, transaction) }
    }
    public var projectedValue: Binding<Value> { self }

    // https://developer.apple.com/documentation/swiftui/binding/subscript(dynamicmember:)
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        // Safe: used on the main actor, where views are.
        nonisolated(unsafe) let (whole, keyPath) = (self, keyPath)
        return Binding<Subject> {
            whole.wrappedValue[keyPath: keyPath]
        } set: { value, transaction in
            whole.transaction(transaction).wrappedValue[keyPath: keyPath] = value
        }.transaction(transaction)
    }
}
extension Binding: @unchecked Sendable where Value: Sendable {}

// https://developer.apple.com/documentation/swiftui/state
@propertyWrapper public struct State<Value>: DynamicProperty {
    private final class Box {
        var value: Value
        init(_ value: Value) { self.value = value }
    }
    private let box: Box
    public init(wrappedValue value: Value) { box = Box(value) }
    public init(initialValue value: Value) { box = Box(value) }
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
    public var projectedValue: Binding<Value> {
        // Safe: used on the main actor, where views are.
        nonisolated(unsafe) let box = box
        return Binding {
            box.value
        } set: {
            box.value = $0
        }
    }
}
extension State: @unchecked Sendable where Value: Sendable {}

// https://developer.apple.com/documentation/swiftui/environmentvalues, …/environmentkey, …/environment
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}
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
// For use in a `body`.
@propertyWrapper public struct Environment<Value>: DynamicProperty {
    private let keyPath: KeyPath<EnvironmentValues, Value>
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }
    public var wrappedValue: Value { EnvironmentValues.current[keyPath: keyPath] }
}
extension Environment: @unchecked Sendable where Value: Sendable {}

struct EnvironmentView<Content: View>: View {
    let content: Content
    let change: (inout EnvironmentValues) -> Void
    var body: Never { fatalError("drawn by the system") }
}
extension View {
    // https://developer.apple.com/documentation/swiftui/view/environment(_:_:)
    public func environment<Value>(
        _ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
    ) -> some View {
        EnvironmentView(content: self) { $0[keyPath: keyPath] = value }
    }
}

// https://developer.apple.com/documentation/swiftui/viewmodifier
@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = _ViewModifier_Content<Self>
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}
public struct _ViewModifier_Content<Modifier: ViewModifier>: View {
    let view: any View
    public var body: Never { fatalError("drawn by the system") }
}
extension View {
    public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> some View {
        modifier.body(content: _ViewModifier_Content(view: self))
    }
}

// https://developer.apple.com/documentation/swiftui/text, …/localizedstringkey
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    let key: String
    public init(_ value: String) { key = value }
    public init(stringLiteral value: String) { key = value }
    public init(stringInterpolation: StringInterpolation) { key = stringInterpolation.text }
    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) { text += literal }
        public mutating func appendInterpolation(_ string: String) { text += string }
        public mutating func appendInterpolation(_ value: Int) { text += "\(value)" }
    }
}
public struct Text: Sendable {
    let text: String
    public init(_ key: LocalizedStringKey) { text = key.key }
    @_disfavoredOverload public init(_ content: some StringProtocol) { text = String(content) }
}
extension Text: View { public var body: Never { fatalError("drawn by the system") } }

// https://developer.apple.com/documentation/swiftui/toggle, …/button, …/form
public struct Toggle<Label: View>: View {
    let label: Label
    let isOn: Binding<Bool>
    public init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) { (self.isOn, self.label) = (isOn, label()) }
    public var body: Never { fatalError("drawn by the system") }
}
extension Toggle where Label == Text {
    public init(_ titleKey: LocalizedStringKey, isOn: Binding<Bool>) {
        self.init(isOn: isOn) { Text(titleKey) }
    }
    @_disfavoredOverload public init(_ title: some StringProtocol, isOn: Binding<Bool>) {
        self.init(isOn: isOn) { Text(title) }
    }
}
public struct Button<Label: View>: View {
    let label: Label
    @preconcurrency public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
        self.label = label()
    }
    public var body: Never { fatalError("drawn by the system") }
}
extension Button where Label == Text {
    @preconcurrency public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {
        self.init(action: action) { Text(titleKey) }
    }
    @_disfavoredOverload @preconcurrency public init(
        _ title: some StringProtocol, action: @escaping @MainActor () -> Void
    ) {
        self.init(action: action) { Text(title) }
    }
}
public struct Form<Content: View>: View {
    let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/color, …/color/resolved, …/colorpicker
public struct Color: Hashable, Sendable {
    public static let orange = Color(components: [1, 0.5, 0, 1])
    private let components: [Float]
}
extension Color: View { public var body: Never { fatalError("drawn by the system") } }
extension Color {
    public struct Resolved: Hashable, Codable, Sendable {
        public var red: Float
        public var green: Float
        public var blue: Float
        public var opacity: Float
        public init(red: Float, green: Float, blue: Float, opacity: Float = 1) {
            (self.red, self.green, self.blue, self.opacity) = (red, green, blue, opacity)
        }
    }
    public init(_ resolved: Resolved) {
        self.init(components: [resolved.red, resolved.green, resolved.blue, resolved.opacity])
    }
    public func resolve(in environment: EnvironmentValues) -> Resolved {
        Resolved(red: components[0], green: components[1], blue: components[2], opacity: components[3])
    }
}
@available(tvOS, unavailable)
@available(watchOS, unavailable)
public struct ColorPicker<Label: View>: View {
    let label: Label
    public var body: Never { fatalError("drawn by the system") }
}
@available(tvOS, unavailable)
@available(watchOS, unavailable)
extension ColorPicker where Label == Text {
    public init(_ titleKey: LocalizedStringKey, selection: Binding<Color>, supportsOpacity: Bool = true) {
        label = Text(titleKey)
    }
}

// https://developer.apple.com/documentation/swiftui/app, …/scene, …/scenebuilder, …/windowgroup
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
extension App {
    @MainActor @preconcurrency public static func main() { _ = Self().body }
}
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: Scene {}
@resultBuilder public struct SceneBuilder {
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) { _ = content() }
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/previewmodifier, …/previewmodifiercontent
@available(iOS 18.0, macOS 15.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
@MainActor @preconcurrency public protocol PreviewModifier {
    associatedtype Body: View
    associatedtype Context = Void
    typealias Content = PreviewModifierContent
    @MainActor @preconcurrency static func makeSharedContext() async throws -> Context
    @ViewBuilder @MainActor @preconcurrency func body(content: Content, context: Context) -> Body
}
@available(iOS 18.0, macOS 15.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension PreviewModifier where Context == Void {
    @MainActor @preconcurrency public static func makeSharedContext() async throws {}
}
@available(iOS 18.0, macOS 15.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
public struct PreviewModifierContent: View {
    let view: any View
    public var body: Never { fatalError("drawn by the system") }
}
