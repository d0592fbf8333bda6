import Observation
import TypedDefaults

public struct CameraConfig: DefaultConfig, Equatable {
    public static let key = "CameraConfig"
    public enum Size: String, Codable, Sendable { case large, medium, small }
    public struct Flash: Codable, Equatable, Sendable { public var isOn = false }
    public var savesToCameraRoll = true
    public var size = Size.medium
    public var flash = Flash()
    public init() {}
}

/// A hand-written conversion.
public struct Zoom: DefaultConvertible, Equatable {
    public static let key = "Zoom"
    public var factor: Double
    public init(factor: Double) { self.factor = factor }
    public init?(_ object: Any) {
        guard let factor = object as? Double else { return nil }
        self.factor = factor
    }
    public func serialize() -> Any { factor }
}

/// A raw value.
public enum Mode: String, DefaultConvertible {
    public static let key = "Mode"
    case photo, video
}

/// A class.
public final class Owner: DefaultConvertible, Codable {
    public static let key = "Owner"
    public let name: String
    public init(name: String) { self.name = name }
}

/// Nothing but `Codable`: under main-actor isolation the conformance would belong to the main
/// actor.
public nonisolated struct Grid: Codable, Equatable, Sendable {
    public var columns = 3
    public init() {}
}

public nonisolated enum Keys {
    public static let grid = DefaultKey("grid", default: Grid())
    public static let theme = DefaultKey("theme", default: Theme.light)
    public enum Theme: String, Codable, Sendable { case light, dark }
}

/// In a module that is isolated to the main actor, closures for other threads need the
/// `nonisolated`.
nonisolated extension DefaultKey<Int> {
    public static let launchCount = DefaultKey("launchCount", default: 0)
}

/// Uses a key in a migration, in an observer and on another thread: their closures are `@Sendable`.
public func countLaunches(in suite: DefaultsSuite) async throws -> Int {
    var migrator = DefaultsMigrator()
    migrator.register("1") { contents in contents[.launchCount] = 1 }
    try suite.migrate(migrator)
    let token = suite.observe(.launchCount) { _ in if suite[.launchCount] == 2 { suite[.launchCount] = 3 } }
    await Task.detached { suite[.launchCount] += 1 }.value
    token.cancel()
    return suite[.launchCount]
}

@MainActor @Observable public final class CameraModel {
    public let config: AnyStore<CameraConfig>
    public let zoom: AnyStore<Zoom>
    public private(set) var shots = 0
    public private(set) var sizes: [CameraConfig.Size?] = []
    @ObservationIgnored private var tokens: [ObservationToken] = []

    public init(config: AnyStore<CameraConfig> = .persistent(), zoom: AnyStore<Zoom> = .persistent()) {
        self.config = config
        self.zoom = zoom
    }

    /// A handler that belongs to the main actor, and one that runs wherever the change is made.
    public func observe() {
        tokens = [
            config.observeOnMainActor(initial: true) { [weak self] change in
                self?.sizes.append(change.newValue?.size)
            },
            zoom.observe { change in precondition(change.oldValue != change.newValue) },
        ]
    }

    /// The sizes from now on, up to the given one.
    public func sizes(until last: CameraConfig.Size) async -> [CameraConfig.Size?] {
        var sizes: [CameraConfig.Size?] = []
        for await config in config.values {
            sizes.append(config.size)
            if config.size == last { break }
        }
        return sizes
    }

    public func shoot() throws {
        shots += 1
        try zoom.update(default: Zoom(factor: 1)) { $0.factor *= 2 }
    }
}

/// A store with only the three required methods.
public final class FixedStore: DefaultStoreType {
    public init() {}
    public func get() -> CameraConfig? { CameraConfig() }
    public func set(_ value: CameraConfig) {}
    public func remove() {}
}
