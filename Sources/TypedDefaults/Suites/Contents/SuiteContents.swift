import SettingsFile

/// The stored values of a suite as one value, which ``DefaultsSuite/update(_:)`` edits, and on
/// which backups and migrations work.
///
/// ```swift
/// try suite.update { contents in
///     contents[.quality] = 0.5
///     contents["window"] = ["x": 12, "y": 40]
///     contents.remove(.launchCount)
/// }
/// let backup = try suite.contents()
/// ```
///
/// A value of this type is independent of the suite: changing a copy changes nothing else. Keys are
/// compared by their UTF-8 bytes.
///
/// Subscripts cannot throw. The first failure, such as a value that cannot be stored, is kept and
/// thrown by the call that stores the contents, which then stores nothing.
///
/// ## Topics
///
/// ### Reading and writing a setting
///
/// - ``subscript(_:)-(DefaultKey<Value>)``
/// - ``subscript(_:)-(Config.Type)``
/// - ``subscript(stored:)``
/// - ``subscript(_:)-(String)``
/// - ``read(_:)``
/// - ``contains(_:)``
/// - ``remove(_:_:)``
/// - ``removeAll(includingHistory:)``
/// - ``keys``
/// - ``isEmpty``
/// - ``unreadableKeys``
/// - ``faults(_:)``
///
/// ### Export and import
///
/// - ``json()``
/// - ``init(json:)``
/// - ``merge(_:)``
///
/// ### Migrating
///
/// - ``rename(_:to:)``
/// - ``rename(prefix:to:)``
/// - ``migrate(_:_:)``
/// - ``history``
public struct SuiteContents: Sendable {
    var base: Base
    var edits: [ByteString: PropertyList?] = [:]
    /// The histories that were assigned, by the prefixes of their scopes; `nil` for one that is not
    /// known.
    var historyEdits: [ByteString: [String]?] = [:]
    /// Whether the histories were removed, so that they do not stay when these contents replace
    /// others.
    var isForgetting = false
    /// The edits that are values of a type.
    var typed: [ByteString: TypedWrite] = [:]
    /// The keys whose edits were values of a type.
    var written: Set<ByteString> = []
    /// The first failure of a subscript.
    private(set) var failure: DefaultsError?
    /// The keys of the copies of values that the edits overwrite, and the reasons why those values
    /// cannot be read.
    var copies: [(key: String, error: DefaultsError)] = []
    /// Whether a step of a migration edits the contents. A key that it reads or writes does not
    /// count as declared with that type, and a value that it has read needs no copy.
    var isMigrating = false

    init(base: Base) { self.base = base }
}

extension SuiteContents {
    /// The value that is stored under a key, as it is stored; `nil` if there is none. Assigning
    /// `nil` removes the key, and assigning a value replaces what is stored without a copy.
    public subscript(name: String) -> PropertyList? {
        get {
            let value = stored(name)
            if isMigrating, value != nil { base.noteRead(of: name, as: PropertyList.self, isWhole: true) }
            return value
        }
        set {
            guard !base.isHistory(name) else { return refuse(name, newValue) }
            edits[ByteString(name)] = .some(newValue)
            discard(ByteString(name))
            written.remove(ByteString(name))
        }
    }

    /// The value of a config type. If no value is stored, that of a layer after
    /// ``DefaultsSuite/Layer/stored``, or the default, which is also returned if the stored value
    /// cannot be read. Assigning stores the properties that change.
    public subscript<Config: DefaultConfig>(type: Config.Type) -> Config {
        get { read(Config.key, Declaration<Config>.ofType, orBehind: true) ?? Config.defaultInstance }
        set { write(newValue, Config.key, Declaration<Config>.ofType) }
        _modify {
            let declaration = Declaration<Config>.ofType
            var value = editable(self[type], declaration.conversion)
            defer { write(value, Config.key, declaration, isAssigned: false) }
            yield &value
        }
    }

    /// The stored value of a type that names its own key; `nil` if none is stored or the stored one
    /// cannot be read.
    ///
    /// Assigning `nil` removes the key.
    public subscript<Config: DefaultConvertible>(stored type: Config.Type) -> Config? {
        get { read(Config.key, Declaration<Config>.ofType) }
        set {
            let conversion = Conversion<Config>.convertible.optional
            write(newValue, Config.key, Declaration<Config?>(Config.key, conversion, default: nil))
        }
    }

    /// Removes all values. Those that you store later are of the same version: their ``history``
    /// stays.
    ///
    /// - Parameter includingHistory: Whether to forget the history as well, and that of each scope.
    public mutating func removeAll(includingHistory: Bool = false) {
        if includingHistory {
            for scope in allHistories.scopes + [Histories.wholeSuite] { historyEdits[scope] = [] }
            isForgetting = true
        }
        for key in Array(values.keys) + base.allUnreadable.keys { edits[key] = .some(nil) }
        for key in Array(typed.keys) { discard(key) }
        (copies, written) = ([], [])
    }

    /// The keys whose values this version of the library cannot read, because a newer one wrote
    /// them.
    ///
    /// They appear neither in ``keys`` nor in iteration.
    /// ``DefaultsSuite/replaceContents(with:)`` leaves them as they are.
    public var unreadableKeys: [String] {
        base.allUnreadable.keys.filter { edits[$0] == nil && typed[$0] == nil }.map(\.string).sortedByBytes()
    }

    /// Whether there is no value.
    public var isEmpty: Bool { values.isEmpty }

    /// The stored keys, sorted by their UTF-8 bytes.
    public var keys: [String] { map(\.key) }

    func stored(_ name: String) -> PropertyList? {
        let key = ByteString(name)
        if let write = typed[key] { return write.outcome.new.stored }
        if !typed.isEmpty, SetAside.isCopy(name) { return resolved.stored(name) }
        if let edit = edits[key] { return edit }
        return base.value(name, includesFallback: false)
    }

    /// Whether a value was assigned to the key, or its value was removed.
    func isEdited(_ name: String) -> Bool { typed[ByteString(name)] != nil || edits[ByteString(name)] != nil }

    /// Returns the value of a key; `nil` if none is stored or the stored one cannot be read.
    ///
    /// - Parameter isBehind: Whether the value of a layer behind the stored ones counts while none
    ///   is stored.
    func read<Value>(_ name: String, _ declaration: Declaration<Value>, orBehind isBehind: Bool = false) -> Value? {
        do throws(DefaultsError) { return try decoded(name, declaration, orBehind: isBehind) } catch {
            if base.failure == nil { base.note([error], isWhole: true, of: found(name), name, declaration) }
            return nil
        }
    }

    /// Returns the value of a key; `nil` if none is stored.
    func load<Value>(
        _ name: String, _ declaration: Declaration<Value>, orBehind isBehind: Bool = false
    ) throws(DefaultsError) -> Value? {
        do throws(DefaultsError) { return try decoded(name, declaration, orBehind: isBehind) } catch {
            throw error.about(key: base.key(of: name))
        }
    }

    private func found(_ name: String) -> PropertyList? {
        isEdited(name) ? stored(name) : base.value(name, includesFallback: true)
    }

    private func decoded<Value>(
        _ name: String, _ declaration: Declaration<Value>, orBehind isBehind: Bool
    ) throws(DefaultsError) -> Value? {
        if !isMigrating { base.declare(name, declaration) }
        if let write = typed[ByteString(name)], write.type == declaration.conversion.form,
            let box = write.invalid?.box as? Box<Value>
        {
            return box.value
        }
        guard let stored = found(name) else {
            if let failure = base.failure { throw failure }
            if !isEdited(name), let error = base.unreadable[ByteString(name)] { throw error }
            guard isBehind, !isMigrating, let behind = base.behind(name, declaration) else { return nil }
            return try declaration.conversion.decode(behind.stored)
        }
        let behind = isBehind && !isMigrating ? base.behind(name, declaration)?.properties : nil
        // Safe: all boxes of a conversion have its type.
        let box =
            behind == nil
            ? try declaration.conversion.box(stored)
            : try ChangeRule(declaration.conversion).decode(stored, behind: behind).get() as! Box<Value>
        if let errors = box.recovery?.errors, !errors.isEmpty {
            base.note(errors, isWhole: false, of: stored, name, declaration)
        }
        if isMigrating { base.noteRead(of: name, as: Value.self, isWhole: box.recovery == nil) }
        return box.value
    }

    mutating func fail(_ error: DefaultsError) { failure = failure ?? error }

    /// A history is no setting: none is stored, and none can be.
    mutating func refuse(_ name: String, _ value: PropertyList?) {
        if value != nil { fail(Histories.reserved(name)) }
    }

    /// All values after the edits.
    var values: [ByteString: PropertyList] {
        guard typed.isEmpty else { return resolved.values }
        var values = base.values
        for (key, value) in edits { values[key] = value }
        return values
    }

    /// The same contents, with what the typed writes store.
    private var resolved: SuiteContents {
        var resolved = self
        resolved.resolve()
        return resolved
    }
}

extension SuiteContents: Equatable {
    /// Returns whether both hold equal values under the same keys.
    public static func == (lhs: SuiteContents, rhs: SuiteContents) -> Bool { lhs.values == rhs.values }
}

extension SuiteContents: ExpressibleByDictionaryLiteral {
    /// Creates contents from keys and values. If a key occurs more than once, its last value is
    /// used.
    public init(dictionaryLiteral elements: (String, PropertyList)...) {
        self.init(base: Base([:]))
        for (key, value) in elements { self[key] = value }
    }
}

extension SuiteContents: Sequence {
    /// Returns an iterator over keys and values, sorted by the UTF-8 bytes of the keys.
    public func makeIterator() -> some IteratorProtocol<(key: String, value: PropertyList)> {
        values.map { (key: $0.key.string, value: $0.value) }.sortedByBytes().makeIterator()
    }
}

extension SuiteContents: DiscreetlyDescribed {
    /// The number of keys, without any key or value.
    var summary: String { "SuiteContents(\(values.count) keys)" }
}
