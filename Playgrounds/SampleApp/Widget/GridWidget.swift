import SwiftUI
import TypedDefaults
import WidgetKit

struct GridEntry: TimelineEntry {
    let date = Date()
    let showsGrid: Bool
}

struct GridProvider: TimelineProvider {
    func placeholder(in context: Context) -> GridEntry { GridEntry(showsGrid: true) }

    func getSnapshot(in context: Context, completion: @escaping (GridEntry) -> Void) {
        completion(GridEntry(showsGrid: Settings.group[.showsGrid]))
    }

    func getTimeline(in context: Context, completion: @escaping (Timeline<GridEntry>) -> Void) {
        // The app asks for the next one.
        completion(Timeline(entries: [GridEntry(showsGrid: Settings.group[.showsGrid])], policy: .never))
    }
}

@main struct GridWidget: Widget {
    var body: some WidgetConfiguration {
        StaticConfiguration(kind: "Grid", provider: GridProvider()) { entry in
            Text(entry.showsGrid ? "Grid" : "No grid").containerBackground(.background, for: .widget)
        }
    }
}
