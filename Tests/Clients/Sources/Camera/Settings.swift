import Observation
import TypedDefaults
import TypedDefaultsRecipes

/// Every place that a wrapper can stand in, each with the same setting.
public struct Settings: Sendable {
    @UserDefault("count", in: shared) public var count = 9
    @UserDefault("nickname", in: shared) public var nickname: String?
    @UserDefault("mode", in: shared) public var mode = Mode.photo
    @UserDefault(Name.theme.rawValue, defaultValue: .light, in: shared) public var theme: Keys.Theme
    @UserDefault("gridSettings", in: shared) public var grid = Grid()
    nonisolated enum Name: String { case theme }
    public nonisolated static let shared = DefaultsSuite.inMemory()
    public init() {}
}

public final class Holder {
    @UserDefault("count", in: Settings.shared) public var count = 9
    public init() {}
}

public actor Worker {
    @UserDefault("count", in: Settings.shared) public var count = 9
    public init() {}
    public func add(_ number: Int) throws -> Int {
        try $count.update { $0 += number }
        return count
    }
}

@MainActor public enum Shown {
    @UserDefault("count", in: Settings.shared) public static var count = 9
}

/// For any thread. In a module that is isolated to the main actor, static settings need the
/// `nonisolated`.
public nonisolated enum Anywhere {
    public static let count = UserDefault("count", default: 9, in: Settings.shared)
}

@MainActor @Observable public final class SettingsModel {
    @ObservationIgnored @UserDefault("count", in: Settings.shared) public var count = 9
    public init() {}
}
