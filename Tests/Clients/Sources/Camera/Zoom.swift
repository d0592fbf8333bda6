import TypedDefaults

/// Code that uses the standard suite, as most apps do.
public nonisolated struct ZoomModel {
    @UserDefault("zoom.level") public var level = 1.0
    @UserDefault("zoom.isLocked") public var isLocked = false
    public init() {}

    public func zoomIn() { if !isLocked { level *= 2 } }
}
