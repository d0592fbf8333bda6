import SettingsFile

/// A class whose properties are settings, each with its initial value as the default.
///
/// ```swift
/// final class AppConfig: StorableConfig {
///     @Stored var isFirstLaunch = true
///     @Stored var userName = ""
///     @Stored var selectedHobbies: [String] = []
/// }
///
/// let config = AppConfig()
/// config.selectedHobbies.append("golf")                          // one read, one write, one event
/// let token = config.$userName.observe { change in print(change.newValue ?? "") }
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
/// ``DefaultsMigrator``; see <doc:ChangingYourSettings>. To find a rename by accident, compare
/// ``allKeys`` with a list in a test.
///
/// Earlier programs stored the values under keys with dots, `<identifier>.<class>.<property>`. The
/// first instance moves those whose key with slashes has no value, in one commit. The same applies
/// to a property with an explicit key of the form `<identifier>/<class>/<property>`. If that fails,
/// the failure handler receives the error, and the next instance tries again.
///
/// ## Topics
///
/// ### Creating a config
///
/// - ``init(in:identifier:)``
/// - ``Stored``
///
/// ### All settings
///
/// - ``reset()``
/// - ``currentValues``
/// - ``changedValues``
/// - ``allKeys``
open class StorableConfigBase {
    private let suite: DefaultsSuite
    private var settings: [any AnyStored] = []

    /// Creates an instance for the settings in a suite.
    ///
    /// - Parameters:
    ///   - suite: The suite of the settings; `.inMemory()` in a test.
    ///   - identifier: The first part of each key. `nil` means ``DefaultsSuite/standardName``,
    ///     which cannot be assigned afterwards. Under a test runner, that is the name of the
    ///     runner.
    public init(in suite: DefaultsSuite = .standard, identifier: String? = nil) {
        self.suite = suite
        let type = type(of: self)
        precondition(
            !(self is any CustomReflectable), "\(type) has a mirror of its own, which hides its @Stored properties")
        let identifier = identifier ?? DefaultsSuite.programIdentifier
        let prefix = "\(identifier).\(stableName(of: type))"
        suite.core.declare(suite.withPrefix(keyWithoutDots(prefix)), DeclaredForm(type, .codable))
        var names: [(dotted: String, key: String)] = []
        settings = storedProperties(of: self).map { label, property in
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
            Set(keys.map(ByteString.init)).count == keys.count,
            "Two properties of \(type) share a key, with slashes or with dots: \(keys)")
        DottedKeys.move(names, of: type, in: suite.current)
    }
}

extension StorableConfigBase {
    /// The keys of all properties, those of the superclass first.
    ///
    /// ```swift
    /// #expect(AppConfig(in: .inMemory(), identifier: "app").allKeys == ["app/AppConfig/isFirstLaunch", "user-name"])
    /// ```
    public var allKeys: [String] { settings.map(\.key) }

    /// The current values of all properties by key. A property that is `nil` is left out.
    public var currentValues: [String: PropertyList] {
        values { setting throws(DefaultsError) in try setting.encodedValue() }
    }

    /// The current values of the properties that differ from their defaults, by key.
    public var changedValues: [String: PropertyList] {
        values { setting throws(DefaultsError) in
            let (value, defaultValue) = (try setting.encodedValue(), try setting.encodedDefault())
            return setting.kind.areEqual(value, defaultValue) ? nil : value
        }
    }

    /// Resets all properties to their defaults, in one commit.
    public func reset() { suite.remove(allKeys) }

    private func values(
        _ value: (any AnyStored) throws(DefaultsError) -> PropertyList?
    ) -> [String: PropertyList] {
        var values: [String: PropertyList] = [:]
        for setting in settings {
            do throws(DefaultsError) {
                values[setting.key] = try value(setting)
            } catch {
                suite.current.core.report(error.about(key: setting.key))
            }
        }
        return values
    }
}

/// Moves values that earlier programs stored under keys with dots.
private enum DottedKeys {
    /// The suites in which nothing is left to move, by suite, class and first key.
    private static let finishedSuites = Locked<[ByteString: WeakSuite]>([:])
    private struct WeakSuite { weak var identity: SuiteCore.Identity? }

    /// Moves the values whose key with slashes has none, as one commit. Looks for them once for
    /// each class and suite.
    static func move(_ names: [(dotted: String, key: String)], of type: Any.Type, in suite: DefaultsSuite) {
        guard let first = names.first else { return }
        let identity = suite.core.identity
        let id = ByteString(
            "\(UInt(bitPattern: ObjectIdentifier(identity))) \(UInt(bitPattern: ObjectIdentifier(type)))"
                + " \(suite.withPrefix(first.dotted))")
        guard finishedSuites.withLock({ $0[id]?.identity !== identity }) else { return }
        do {
            func isDue(_ name: (dotted: String, key: String)) throws(DefaultsError) -> Bool {
                guard try suite.stored(name.dotted) != nil else { return false }
                return try suite.stored(name.key) == nil
            }
            if try names.contains(where: isDue) {
                try suite.update { contents in
                    for name in names where try isDue(name) { contents.rename(name.dotted, to: name.key) }
                }
            }
            finishedSuites.withLock { $0[id] = WeakSuite(identity: identity) }
        } catch let error as DefaultsError {
            suite.core.report(error)
        } catch {}  // Nothing here throws another error.
    }
}

/// Returns the wrapped properties of an object with their names, those of its superclasses first.
private func storedProperties(of object: AnyObject) -> [(label: String, property: any AnyStored)] {
    var properties: [(label: String, property: any AnyStored)] = []
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror {
        let found = level.children.compactMap { label, value in
            // The storage of a wrapped property has an underscore before its name.
            (value as? any AnyStored).map { (String(label?.dropFirst() ?? ""), $0) }
        }
        properties = found + properties
        mirror = level.superclassMirror
    }
    return properties
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
    return keyWithoutDots(dotted).hasSameBytes(as: key) ? dotted : nil
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
