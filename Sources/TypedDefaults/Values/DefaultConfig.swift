import SettingsFile

/// A config type whose default is a new instance of it.
///
/// ```swift
/// struct CameraConfig: DefaultConfig {
///     static let key = "CameraConfig"
///     enum Size: String, Codable { case large, medium, small }
///     var savesToCameraRoll = true
///     var size = Size.medium
/// }
/// ```
///
/// A struct whose properties all have initial values needs no other code; a public one also needs
/// `public init() {}`. Stores of such a type have a ``DefaultStoreType/value`` that is never `nil`.
/// A stored value that lacks a property, because a later version of the program added it, or holds
/// one that cannot be read, takes that property from the default. See <doc:ChangingYourSettings>.
///
/// A change stores the properties that it changes; `set` and `save` store every property. So a
/// better default of the next release reaches everyone who has not chosen another value. See
/// <doc:ConfigStructs>.
///
/// The default instance is created once per type and process, so a struct with `var id = UUID()`
/// has the same `id` until it is stored. That of a class is created each time.
///
/// ## Topics
///
/// ### The default
///
/// - ``init()``
public protocol DefaultConfig: DefaultConvertible, Codable {
    /// Creates the default.
    init()

    /// The conditions that the values meet. By default, there are none.
    ///
    /// ```swift
    /// static let rules: [DefaultRule<CameraConfig>] = [.on(\.zoom, .clamped(to: 1...10))]
    /// ```
    ///
    /// All of them hold for what is stored and read, also after one has corrected the value. They
    /// hold for the config as a setting, but not for one inside another value. A class that
    /// conforms must be final, because the rules are of its own type.
    static var rules: [DefaultRule<Self>] { get }
}

extension DefaultConfig {
    /// No rules: all values are valid.
    public static var rules: [DefaultRule<Self>] { [] }

    /// The default of the type. It is created once, but for an object, which code that receives it
    /// could change.
    static var defaultInstance: Self {
        if self is AnyClass { return Self() }
        return defaultInstances.object(of: self) { Box(Self()) }.value(as: Self.self)
    }
}

extension DefaultConvertible {
    /// The default by entries; `nil` if the type is no ``DefaultConfig``.
    static var configDefaults: DefaultEntries? { (self as? any DefaultConfig.Type)?.defaults }
}

private let defaultInstances = PerType<AnyBox>()
