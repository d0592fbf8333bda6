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
/// Two instances on one suite agree at all times. An instance is not `Sendable`; its `$` settings
/// are, so hand those to other threads.
///
/// In a module that is isolated to the main actor by default a direct subclass needs nothing; a
/// subclass of a subclass needs `nonisolated`.
public typealias StorableConfig = StorableConfigBase & StorableConfigType

/// What lets a class inherit from ``StorableConfigBase`` in a module that is isolated to the main
/// actor by default.
public protocol StorableConfigType: SendableMetatype {}

/// What a ``StorableConfig`` inherits.
///
/// Each property is stored under `<identifier>/<class>/<property>`, with `/` for each dot. The
/// class is the one that was created, with the types around it, as in `Camera/Config`, and with its
/// generic arguments: two subclasses of one class share no setting. Two classes of one name in
/// different modules or functions would share their settings; the failure handler receives a
/// *conflict*.
///
/// If you rename a property, say so: `@Stored(formerly: ["userName"]) var name = ""`. If you rename
/// the class, override ``formerNames``. A test that compares ``allKeys`` with a list notices a
/// rename.
///
/// A value that is stored under a key with dots, `<identifier>.<class>.<property>`, is read as long
/// as there is none under the new key. The first write moves it. The same holds for a property that
/// is pinned to a key of that form, `<identifier>/<class>/<property>`. On Apple platforms, changes
/// that other processes make to a key with dots cannot be observed at once.
open class StorableConfigBase {
    private let suite: DefaultsSuite
    private var settings: [any AnyStored] = []

    /// Creates an instance that begins with what is stored.
    ///
    /// - Parameters:
    ///   - suite: The suite of the settings; `.inMemory()` in a test.
    ///   - identifier: How the keys begin. Nil for the identifier of the bundle, or else the name
    ///     of the program, see ``DefaultsSuite/standardName``, which is another one under a test
    ///     runner. After this it can be given no other name.
    public init(in suite: DefaultsSuite = .standard, identifier: String? = nil) {
        self.suite = suite
        let type = type(of: self)
        precondition(
            !(self is any CustomReflectable), "\(type) has a mirror of its own, which hides its @Stored properties")
        let identifier = identifier ?? DefaultsSuite.programIdentifier
        let name = stableName(of: type)
        let prefix = "\(identifier).\(name)"
        suite.core.note(ClassDeclaration(type: type), of: suite.withPrefix(keyWithoutDots(prefix)))
        settings = storedProperties(of: self).map { label, property in
            let derived = "\(prefix).\(label)"
            let key = property.pinnedKey ?? keyWithoutDots(derived)
            // A pinned key of this program may be the derived key of a property that was renamed.
            let dotted = property.pinnedKey.map { dottedKey($0, of: identifier) } ?? derived
            let names = (property.pinnedKey == nil ? [label] : []) + property.formerNames
            let former = ([name] + type.formerNames).flatMap { type in names.map { "\(identifier).\(type).\($0)" } }
            property.bind(
                to: suite, key,
                formerKeys: (dotted.map { [$0] } ?? [])
                    + former.flatMap { [keyWithoutDots($0), $0] }.filter { $0 != key && $0 != dotted })
            return property
        }
        let keys = settings.flatMap { [$0.key] + $0.formerKeys }
        precondition(
            Set(keys.map(ByteString.init)).count == keys.count,
            "Two properties of \(type) share a key or a former key: \(keys)")
    }

    /// The names that the class had before, newest first, with the types around it, as in
    /// `Camera.Config`; empty by default.
    ///
    /// ```swift
    /// final class AppConfig: StorableConfig {
    ///     override class var formerNames: [String] { ["AppSettings"] }
    ///     @Stored var userName = ""
    /// }
    /// ```
    ///
    /// A value that is stored for the class of a former name is read as long as there is none for
    /// this one, and the first write moves it. A subclass inherits the names.
    open class var formerNames: [String] { [] }
}

extension StorableConfigBase {
    /// The keys of all properties, those of the superclass first.
    ///
    /// ```swift
    /// #expect(AppConfig(in: .inMemory(), identifier: "app").allKeys == ["app/AppConfig/isFirstLaunch", "user-name"])
    /// ```
    public var allKeys: [String] { settings.map(\.key) }

    /// What all properties read as now, by key; a property that is nil is left out.
    public var currentValues: [String: PropertyList] {
        values { setting throws(DefaultsError) in try setting.encodedValue() }
    }

    /// What those properties read as that differ from their default, by key.
    public var changedValues: [String: PropertyList] {
        values { setting throws(DefaultsError) in
            let (value, defaultValue) = (try setting.encodedValue(), try setting.encodedDefault())
            return setting.kind.areEqual(value, defaultValue) ? nil : value
        }
    }

    /// Removes what is stored of all properties, as one change, so that the defaults read again.
    public func reset() { suite.remove(settings.flatMap { [$0.key] + $0.formerKeys }) }

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

/// The wrapped properties of an object, those of its superclasses first, with their names.
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

/// Returns the key with `/` in place of each dot. Two keys never give the same one, because `/` and
/// `%` are escaped.
///
/// Key-value observing takes a dot for a path, so it cannot observe a key with one.
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

/// Returns the dotted form of a key `<identifier>/<class>/<property>`, or nil if the key is not of
/// that form.
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

/// The name of a type with the types around it, without its module, and without what differs from
/// run to run.
private func stableName(of type: Any.Type) -> String {
    var rest = Substring(String(reflecting: type))
    var name = ""
    // As in `Module.(unknown context at $1004a2).Config`, or
    // `(extension in Other):Module.Camera.Config`.
    while let character = rest.first {
        if rest.hasPrefix("(unknown context at ") || rest.hasPrefix("(extension in "),
            let end = rest.firstIndex(of: ")")
        {
            // With the dot or the colon behind it.
            rest = rest[end...].dropFirst(2)
        } else {
            name.append(character)
            rest = rest.dropFirst()
        }
    }
    return String(name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).last ?? "")
}
