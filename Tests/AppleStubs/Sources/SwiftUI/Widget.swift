// https://developer.apple.com/documentation/swiftui/widget
@MainActor @preconcurrency public protocol Widget {
    associatedtype Body: WidgetConfiguration
    @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
extension Widget { public static func main() { _ = Self().body } }
@MainActor @preconcurrency public protocol WidgetConfiguration {}

// https://developer.apple.com/documentation/swiftui/view/containerbackground(_:for:)
public protocol ShapeStyle {}
public struct BackgroundStyle: ShapeStyle {}
extension ShapeStyle where Self == BackgroundStyle { public static var background: Self { BackgroundStyle() } }
public struct ContainerBackgroundPlacement: Sendable { public init() {} }
extension View {
    public func containerBackground(_ style: some ShapeStyle, for placement: ContainerBackgroundPlacement) -> some View
    { self }
}
