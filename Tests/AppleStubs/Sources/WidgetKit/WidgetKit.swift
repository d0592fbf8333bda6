// The real WidgetKit also exports Foundation: Xcode's widget template uses `Date` without importing
// it.
@_exported public import Foundation
public import SwiftUI

// The part of WidgetKit that the sample's widget needs:
// https://developer.apple.com/documentation/widgetkit

// https://developer.apple.com/documentation/widgetkit/timelineentry
public protocol TimelineEntry { var date: Date { get } }

// https://developer.apple.com/documentation/widgetkit/timeline
public struct TimelineReloadPolicy: Sendable { public static let never = TimelineReloadPolicy() }
public struct Timeline<Entry: TimelineEntry> {
    public let entries: [Entry]
    public init(entries: [Entry], policy: TimelineReloadPolicy) { self.entries = entries }
}

// https://developer.apple.com/documentation/widgetkit/timelineprovider
public struct TimelineProviderContext: Sendable {}
public protocol TimelineProvider {
    associatedtype Entry: TimelineEntry
    typealias Context = TimelineProviderContext
    func placeholder(in context: Context) -> Entry
    @preconcurrency func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void)
    @preconcurrency func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void)
}

// https://developer.apple.com/documentation/widgetkit/staticconfiguration
public struct StaticConfiguration<Content: View>: WidgetConfiguration {
    public init<Provider: TimelineProvider>(
        kind: String, provider: Provider, @ViewBuilder content: @escaping (Provider.Entry) -> Content
    ) {}
}

// https://developer.apple.com/documentation/widgetkit/widgetcenter
public class WidgetCenter {
    private nonisolated(unsafe) static let center = WidgetCenter()
    public static var shared: WidgetCenter { center }
    public func reloadAllTimelines() {}
}

extension ContainerBackgroundPlacement { public static let widget = ContainerBackgroundPlacement() }
