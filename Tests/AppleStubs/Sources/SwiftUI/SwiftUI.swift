// As much of SwiftUI as an adapter needs, with the isolation of the real thing: `View` and its body are of the main actor, a `Binding`
// may be handed on. https://developer.apple.com/documentation/swiftui
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    var body: Body { get }
}

extension Never: View { public var body: Never { fatalError("never made") } }

public struct Text: View {
    public let content: String
    public init(_ content: String) { self.content = content }
    public var body: Never { fatalError("drawn by the system") }
}

// https://developer.apple.com/documentation/swiftui/binding/init(get:set:)-7ufcp
@propertyWrapper public struct Binding<Value> {
    private let get: @isolated(any) @Sendable () -> Value
    private let set: @isolated(any) @Sendable (Value) -> Void

    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {
        self.get = get
        self.set = set
    }

    // Called where the view is, on the main actor, which `@isolated(any)` cannot say.
    public var wrappedValue: Value {
        get { unsafeBitCast(get, to: (@Sendable () -> Value).self)() }
        nonmutating set { unsafeBitCast(set, to: (@Sendable (Value) -> Void).self)(newValue) }
    }
    public var projectedValue: Binding<Value> { self }
}

extension Binding: Sendable where Value: Sendable {}

// https://developer.apple.com/documentation/swiftui/environmentkey
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

// https://developer.apple.com/documentation/swiftui/environmentvalues
public struct EnvironmentValues {
    private var values: [ObjectIdentifier: Any] = [:]
    public init() {}
    public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
        get { values[ObjectIdentifier(key)].map { $0 as! Key.Value } ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}
