import SettingsFile

// Histories
// =========
//
// Which steps of migrations values have been through is no setting. A suite stores it beside its
// values, for each scope under a key that ends in `keyName`. A key is either a history or a
// setting, and only `isHistory` says which.
//
// The history of a scope must be true for each of its values: a step that it lacks would run again
// on values of the new form, and one that it has would never run on values of the old form. So
// values leave a scope without its history, and `changes(adding:)` decides what happens when values
// arrive: by an import, a replacement or a move.

/// The names of the steps that the values of a suite or its contents have been through.
package struct Histories: Sendable {
    static let keyName = "TypedDefaults-migrations"
    /// The scope of the values that are in no other scope with a history.
    static let wholeSuite = ByteString("")

    /// What is known of each scope that has a history, by the prefix of the scope.
    private var ofScopes: [ByteString: Result<[String]?, DefaultsError>] = [:]
    /// The histories that are damaged; `nil` for one that the backend itself cannot read.
    private var damaged: [ByteString: PropertyList?] = [:]
    /// The steps of a scope without a history; `nil` if they are not known.
    private let others: [String]?

    /// - Parameter isComplete: Whether a scope without a history has been through no step.
    init(isComplete: Bool) { others = isComplete ? [] : nil }

    /// The prefixes of the scopes that have a history.
    var scopes: some Collection<ByteString> { ofScopes.keys }

    /// Returns the steps of a scope; `nil` if they are not known.
    func steps(of scope: ByteString) throws(DefaultsError) -> [String]? {
        guard let steps = ofScopes[scope] else { return others }
        return try steps.get()
    }

    mutating func set(_ steps: [String]?, of scope: ByteString) {
        ofScopes[scope] = .success(steps)
        damaged[scope] = nil
    }

    /// Returns what an export contains for a scope. A damaged history stays one, so that no import
    /// takes its values for those of any version.
    func exported(of scope: ByteString) -> PropertyList? {
        if let history = damaged[scope] { return history ?? "unreadable" }
        guard let steps = (try? steps(of: scope)) ?? nil, scope == Self.wholeSuite || !steps.isEmpty else { return nil }
        return .array(steps.map(PropertyList.string))
    }

    mutating func add(_ history: Result<PropertyList, DefaultsError>, of scope: ByteString) {
        let steps = Result<[String]?, DefaultsError> { () throws(DefaultsError) in
            do throws(DefaultsError) { return try Self.steps(in: history.get()) } catch {
                var error = error
                error.key = Self.key(ofScope: scope)
                throw error
            }
        }
        ofScopes[scope] = steps
        if case .failure = steps { damaged[scope] = .some(try? history.get()) }
    }
}

// As they are stored.
extension Histories {
    /// Returns whether a key is that of a history, and not of a setting.
    @inline(__always)
    package static func isHistory(_ key: String) -> Bool {
        // Asked for each key of an update. Most are shorter than the name, which has 24 bytes.
        key.utf8.count >= 24 && endsInName(key)
    }

    @inline(never)
    private static func endsInName(_ key: String) -> Bool {
        key.utf8.suffix(keyName.utf8.count).elementsEqual(keyName.utf8)
    }

    /// Returns the prefix of the scope whose history has that key; `nil` if the key is that of a
    /// setting.
    static func scope(ofHistory key: String) -> ByteString? {
        guard isHistory(key) else { return nil }
        return ByteString(String(decoding: key.utf8.dropLast(keyName.utf8.count), as: UTF8.self))
    }

    static func key(ofScope scope: ByteString) -> String { scope.string + keyName }

    /// Returns what is stored for steps; `nil` for none.
    static func stored(of steps: [String]) -> PropertyList? {
        steps.isEmpty ? nil : .array(steps.map(PropertyList.string))
    }

    static func steps(in history: PropertyList) throws(DefaultsError) -> [String] {
        if case .array(let elements) = history {
            let names = elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
            if names.count == elements.count { return names }
        }
        throw DefaultsError(
            .unreadable,
            reason: "the history of the migrations is damaged; removeAll(includingHistory: true) removes it")
    }

    /// Returns whether both name the same steps in the same order.
    static func areEqual(_ one: [String]?, _ other: [String]?) -> Bool {
        one?.map(ByteString.init) == other?.map(ByteString.init)
    }

    /// The error of a setting with the key of a history.
    static func reserved(_ key: String) -> DefaultsError {
        DefaultsError(.refused, key: key, reason: "keys that end in “\(keyName)” are reserved for migrations")
    }
}

// Values that arrive.
extension Histories {
    /// Returns the histories that change if values with other histories are added.
    ///
    /// Of two histories, one stays only if it is true for all values that are then in the scope.
    ///
    /// - Parameters:
    ///   - added: The keys of the other values.
    ///   - kept: The keys of the values here that are not replaced.
    /// - Throws: An error if the values in a scope would be of two forms.
    func changes(
        adding other: Histories, with added: some Sequence<ByteString>, keeping kept: some Sequence<ByteString>
    ) throws(DefaultsError) -> [ByteString: [String]] {
        var differing: [(scope: ByteString, old: [String]?, new: [String])] = []
        for scope in Set(ofScopes.keys).union(other.ofScopes.keys).union([Self.wholeSuite]) {
            guard let new = try other.steps(of: scope) else { continue }
            let old = try steps(of: scope)
            if let old, Set(new.map(ByteString.init)) == Set(old.map(ByteString.init)) { continue }
            differing.append((scope, old, new))
        }
        guard !differing.isEmpty else { return [:] }
        let scopes = Set(ofScopes.keys).union(other.ofScopes.keys)
        let (arriving, staying) = (Self.scopes(of: added, among: scopes), Self.scopes(of: kept, among: scopes))
        var changes: [ByteString: [String]] = [:]
        for (scope, old, new) in differing {
            let (missing, further) = (old?.without(new) ?? [], new.without(old ?? []))
            if missing.isEmpty, !staying.contains(scope) {
                changes[scope] = (old ?? []) + further
            } else if arriving.contains(scope) {
                throw Self.refusal(missing: missing, further: further, isKnown: old != nil, of: scope)
            }
        }
        return changes
    }

    /// Returns the innermost scopes that the keys are in.
    private static func scopes(of keys: some Sequence<ByteString>, among scopes: Set<ByteString>) -> Set<ByteString> {
        var scopes = scopes.map(\.string).sortedByBytes()[...]
        var (found, around): (Set<ByteString>, [String]) = ([], [])
        // In this order, a scope comes before its keys, and so does a scope around it.
        for key in keys.map(\.string).sortedByBytes() {
            while let scope = scopes.first, !key.utf8.lexicographicallyPrecedes(scope.utf8) {
                scopes.removeFirst()
                if key.utf8.starts(with: scope.utf8) { around.append(scope) }
            }
            while let scope = around.last, !key.utf8.starts(with: scope.utf8) { around.removeLast() }
            found.insert(around.last.map(ByteString.init) ?? wholeSuite)
        }
        return found
    }

    static func refusal(
        missing: [String], further: [String], isKnown: Bool = true, of scope: ByteString
    ) -> DefaultsError {
        let place = scope == wholeSuite ? "" : "in the scope “\(scope.string)”, "
        let difference =
            if !isKnown {
                "it is unknown which migrations the present values have been through; assign their history"
            } else if missing.isEmpty {
                "only the added values have been through \(further.quoted);"
                    + " migrate the present values first"
            } else {
                "only the present values have been through \(missing.quoted);"
                    + " migrate the added values first"
            }
        return DefaultsError(.refused, key: key(ofScope: scope), reason: place + difference)
    }
}

extension [String] {
    /// Returns the strings that the other ones do not contain, compared by their bytes.
    func without(_ others: [String]) -> [String] {
        let others = Set(others.map(ByteString.init))
        return filter { !others.contains(ByteString($0)) }
    }

    fileprivate var quoted: String { map { "“\($0)”" }.joined(separator: ", ") }
}
