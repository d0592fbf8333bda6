#if canImport(WidgetKit)
    import WidgetKit

    nonisolated func reloadWidgets() { WidgetCenter.shared.reloadAllTimelines() }
#else
    nonisolated func reloadWidgets() {}
#endif
