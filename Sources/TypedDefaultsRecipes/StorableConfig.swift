@_exported public import TypedDefaults

/// A class whose properties are settings, each with its initial value as the default.
///
/// ```swift
/// final class PlayerConfig: StorableConfig {
///     @Stored var isFirstRun = true
///     @Stored var owner = ""
///     @Stored var favorites: [String] = []
/// }
///
/// let config = PlayerConfig()
/// config.favorites.append("jazz")                                // one read, one write, one event
/// let token = config.$owner.observe { change in print(change.newValue ?? "") }
/// ```
///
/// Instances on the same suite always have the same values. An instance is not `Sendable`, but its
/// `$` settings are, so you can use those on other threads.
///
/// In a module that is isolated to the main actor by default, a direct subclass needs no
/// annotation, but a subclass of a subclass needs `nonisolated`.
public typealias StorableConfig = StorableConfigBase & StorableConfigType

/// Lets a class inherit from ``StorableConfigBase`` in a module that is isolated to the main actor
/// by default.
public protocol StorableConfigType: SendableMetatype {}

/// The base class of every ``StorableConfig``.
///
/// Each property is stored under `<identifier>/<class>/<property>`, with `/` in place of each dot.
/// `<class>` is the class of the instance, with its enclosing types, as in `Camera/Config`, and
/// with its generic arguments, so two subclasses of one class share no settings. Two classes with
/// the same name in different modules or functions share their settings, and the failure handler
/// receives a *conflict*.
///
/// If you rename a property or the class, move the stored values in a step of a
/// `DefaultsMigrator`. To find a rename by accident, compare ``allKeys`` with a list in a test.
///
/// The published recipe stored the values under keys with dots, `<identifier>.<class>.<property>`.
/// An instance moves those whose key with slashes has no value, in one commit. The same applies to
/// a property with an explicit key of the form `<identifier>/<class>/<property>`. If that fails,
/// the failure handler receives the error, and the next instance tries again.
///
/// A property without `@Stored` is not stored. If a class has properties and none of them is
/// `@Stored`, the failure handler receives an error for each instance.
open class StorableConfigBase {
    private let suite: DefaultsSuite
    private var settings: [any AnyStored] = []

    /// Creates an instance for the settings in a suite.
    ///
    /// - Parameters:
    ///   - suite: The suite of the settings; `.inMemory()` in a test.
    ///   - identifier: The first part of each key. `nil` means `DefaultsSuite.standardName`, which
    ///     cannot be assigned afterwards. Under a test runner, that is the name of the runner.
    public init(in suite: DefaultsSuite = .standard, identifier: String? = nil) {
        self.suite = suite
        let type = type(of: self)
        precondition(
            !(self is any CustomReflectable), "\(type) has a mirror of its own, which hides its @Stored properties")
        let identifier = identifier ?? DefaultsSuite.standardName
        let prefix = "\(identifier).\(stableName(of: type))"
        declare(Self.self, as: keyWithoutDots(prefix), in: suite)
        var names: [(dotted: String, key: String)] = []
        let (properties, plain) = properties(of: self)
        settings = properties.map { label, property in
            let derived = "\(prefix).\(label)"
            let key = property.pinnedKey ?? keyWithoutDots(derived)
            // A pinned key of this program may be the derived key of a property that was renamed.
            let dotted = property.pinnedKey.map { dottedKey($0, of: identifier) } ?? derived
            if let dotted { names.append((dotted, key)) }
            property.bind(to: suite, key)
            return property
        }
        let keys = settings.map(\.key) + names.map(\.dotted)
        precondition(
            Set(keys.map { Array($0.utf8) }).count == keys.count,
            "Two properties of \(type) share a key, with slashes or with dots: \(keys)")
        if properties.isEmpty, !plain.isEmpty {
            suite.report(
                DefaultsError(
                    .refused, type: "\(type)",
                    reason: "no property is @Stored, so nothing is stored: \(plain.joined(separator: ", "))"))
        }
        moveDottedKeys(names)
    }

    /// Moves the values that earlier programs stored under keys with dots and whose key with
    /// slashes has none, as one commit.
    private func moveDottedKeys(_ names: [(dotted: String, key: String)]) {
        func isStored(_ name: String) throws -> Bool {
            try UserDefault(DefaultKey<PropertyList?>(name), in: suite).store.load() ?? nil != nil
        }
        do {
            guard try names.contains(where: { try isStored($0.dotted) && !isStored($0.key) }) else { return }
            try suite.update { contents in
                for name in names where contents[name.key] == nil { contents.rename(name.dotted, to: name.key) }
            }
        } catch {
            (error as? DefaultsError).map(suite.report)
        }
    }
}

extension StorableConfigBase {
    /// The keys of all properties, those of the superclass first.
    ///
    /// ```swift
    /// #expect(PlayerConfig(in: .inMemory(), identifier: "app").allKeys == ["app/PlayerConfig/isFirstRun", "owner-name"])
    /// ```
    public var allKeys: [String] { settings.map(\.key) }

    /// The current values of all properties by key. A property that is `nil` is left out.
    public var currentValues: [String: PropertyList] { values { try $0.encodedValue() } }

    /// The current values of the properties that differ from their defaults, by key.
    public var changedValues: [String: PropertyList] {
        values { setting in
            let value = try setting.encodedValue()
            return value == (try setting.encodedDefault()) ? nil : value
        }
    }

    /// Resets all properties to their defaults, in one commit.
    public func reset() { suite.remove(allKeys) }

    private func values(_ value: (any AnyStored) throws -> PropertyList?) -> [String: PropertyList] {
        var values: [String: PropertyList] = [:]
        for setting in settings {
            do { values[setting.key] = try value(setting) } catch { (error as? DefaultsError).map(suite.report) }
        }
        return values
    }
}

/// Reports a *conflict* if another type was declared under the key in this suite.
///
/// A key for a value of a type that names the owner does that: nothing is stored under it.
func declare<Owner>(_ owner: Owner.Type, as key: String, in suite: DefaultsSuite) {
    _ = UserDefault(DefaultKey<Declared<Owner>?>(key), in: suite)
}
private struct Declared<Owner>: Codable, Sendable {}

/// Returns the wrapped properties of an object with their names, those of its superclasses first,
/// and the names of its plain ones.
private func properties(
    of object: StorableConfigBase
) -> (stored: [(label: String, property: any AnyStored)], plain: [String]) {
    var (stored, plain): ([(label: String, property: any AnyStored)], [String]) = ([], [])
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror, level.subjectType != StorableConfigBase.self {
        // The storage of a wrapped property has an underscore before its name, and that of a lazy
        // one a dollar sign.
        let wrapped = level.children.compactMap { label, value in
            (value as? any AnyStored).map { (String(label?.dropFirst() ?? ""), $0) }
        }
        stored = wrapped + stored
        plain = level.children.compactMap(\.label).filter { !$0.hasPrefix("_") && !$0.hasPrefix("$") } + plain
        mirror = level.superclassMirror
    }
    return (stored, plain)
}

/// Returns the key with `/` in place of each dot. Different keys have different results, because
/// `/` and `%` are escaped.
///
/// Key-value observing reads a dot as a path, so it cannot observe a key that contains one.
private func keyWithoutDots(_ key: String) -> String {
    var result = ""
    for scalar in key.unicodeScalars {
        switch scalar {
        case ".": result += "/"
        case "/": result += "%2F"
        case "%": result += "%25"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// Returns the dotted form of a key `<identifier>/<class>/<property>`; `nil` for a key of another
/// form.
private func dottedKey(_ key: String, of identifier: String) -> String? {
    let prefix = keyWithoutDots(identifier + ".")
    guard key.utf8.starts(with: prefix.utf8), !key.utf8.contains(UInt8(ascii: ".")),
        key.utf8.dropFirst(prefix.utf8.count).contains(UInt8(ascii: "/"))
    else { return nil }
    let dotted = key.split(separator: "/", omittingEmptySubsequences: false).map { part in
        // The percent sign last: `%252F` is an escaped `%2F`.
        part.split(separator: "%2F", omittingEmptySubsequences: false).joined(separator: "/")
            .split(separator: "%25", omittingEmptySubsequences: false).joined(separator: "%")
    }.joined(separator: ".")
    return keyWithoutDots(dotted).utf8.elementsEqual(key.utf8) ? dotted : nil
}

/// Returns the name of a type with its enclosing types, without its module and without parts that
/// differ between runs.
private func stableName(of type: Any.Type) -> String {
    var rest = Substring(String(reflecting: type))
    var name = ""
    // As in `Module.(unknown context at $1004a2).Config`, or
    // `(extension in Other):Module.Camera.Config`.
    while let character = rest.first {
        if rest.hasPrefix("(unknown context at ") || rest.hasPrefix("(extension in "),
            let end = rest.firstIndex(of: ")")
        {
            // Removes the dot or colon after it, too.
            rest = rest[end...].dropFirst(2)
        } else {
            name.append(character)
            rest = rest.dropFirst()
        }
    }
    return String(name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).last ?? "")
}
