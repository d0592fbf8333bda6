#if canImport(WidgetKit)
    import WidgetKit

    func reloadWidgets() { WidgetCenter.shared.reloadAllTimelines() }
#else
    func reloadWidgets() {}
#endif
