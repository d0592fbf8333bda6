import SettingsFile

// Histories
// =========
//
// Which steps of migrations values have been through is no setting. A suite stores it beside its
// values, for each scope under a key that ends in `recordName`. Nothing outside this file looks
// for that name: a key is either a record or a setting.
//
// The history of a scope must be true for each of its values: a step that it lacks would run again
// on values of the new form, and one that it has would never run on values of the old form. So
// values leave a scope without its history, and `changes(adding:)` decides what happens when values
// arrive: by an import, a replacement or a move.

/// The names of the steps that the values of a suite or its contents have been through.
struct Histories: Sendable {
    static let recordName = "TypedDefaults-migrations"
    /// The scope of the values that are in no other scope with a history.
    static let own = ByteString("")

    /// What is known of each scope that has a record, by the prefix of the scope.
    private var ofScopes: [ByteString: Result<[String]?, DefaultsError>] = [:]
    /// The steps of a scope without a record; `nil` if they are not known.
    private let others: [String]?

    /// - Parameter isComplete: Whether a scope without a record has been through no step.
    init(isComplete: Bool) { others = isComplete ? [] : nil }

    /// The prefixes of the scopes that have a record.
    var scopes: some Collection<ByteString> { ofScopes.keys }

    /// Returns the steps of a scope; `nil` if they are not known.
    func steps(of scope: ByteString) throws(DefaultsError) -> [String]? {
        guard let known = ofScopes[scope] else { return others }
        return try known.get()
    }

    mutating func set(_ steps: [String]?, of scope: ByteString) { ofScopes[scope] = .success(steps) }

    /// - Parameter key: The whole key, for errors.
    mutating func add(_ record: Result<PropertyList, DefaultsError>, of scope: ByteString, under key: String) {
        ofScopes[scope] = record.flatMap { record in
            Result { () throws(DefaultsError) in try Self.steps(in: record, under: key) }
        }
    }
}

// Records.
extension Histories {
    /// Returns whether a key is that of a record, and not of a setting.
    static func isRecord(_ key: String) -> Bool {
        let (bytes, name) = (key.utf8, recordName.utf8)
        return bytes.count >= name.count && bytes.last == name.last && bytes.suffix(name.count).elementsEqual(name)
    }

    /// Returns the prefix of the scope whose record has that key; `nil` if the key is that of a
    /// setting.
    static func scope(ofRecord key: String) -> ByteString? {
        guard isRecord(key) else { return nil }
        return ByteString(String(decoding: key.utf8.dropLast(recordName.utf8.count), as: UTF8.self))
    }

    static func key(ofScope scope: ByteString) -> String { scope.string + recordName }

    /// Returns what is stored for steps; `nil` for none.
    static func record(of steps: [String]) -> PropertyList? {
        steps.isEmpty ? nil : .array(steps.map(PropertyList.string))
    }

    static func steps(in record: PropertyList, under key: String) throws(DefaultsError) -> [String] {
        if case .array(let elements) = record {
            let names = elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
            if names.count == elements.count { return names }
        }
        throw DefaultsError(.unreadable, key: key, reason: "the record of the migrations is not an array of strings")
    }

    /// The error of a setting with the key of a record.
    static func reserved(_ key: String) -> DefaultsError {
        DefaultsError(.refused, key: key, reason: "keys that end in “\(recordName)” are those of migrations")
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
        for scope in Set(ofScopes.keys).union(other.ofScopes.keys).union([Self.own]) {
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
            // Values of an unknown form stay so.
            guard let old else {
                if !staying.contains(scope) { changes[scope] = new }
                continue
            }
            let (missing, further) = (old.without(new), new.without(old))
            if missing.isEmpty, !staying.contains(scope) {
                changes[scope] = old + further
            } else if arriving.contains(scope) {
                throw Self.refusal(missing: missing, further: further, of: scope)
            }
        }
        return changes
    }

    /// Returns the innermost scopes that the keys are in.
    private static func scopes(
        of keys: some Sequence<ByteString>, among scopes: Set<ByteString>
    ) -> Set<ByteString> {
        let lengths = Set(scopes.map { $0.string.utf8.count }).sorted(by: >)
        var found: Set<ByteString> = []
        for key in keys {
            let bytes = key.string.utf8
            let scope = lengths.lazy.filter { $0 <= bytes.count }
                .map { ByteString(String(decoding: bytes.prefix($0), as: UTF8.self)) }.first(where: scopes.contains)
            found.insert(scope ?? own)
        }
        return found
    }

    private static func refusal(missing: [String], further: [String], of scope: ByteString) -> DefaultsError {
        let reason =
            missing.isEmpty
            ? "values that have been through \(further.quoted) cannot be added to values that have not"
            : "values that have not been through \(missing.quoted) cannot be added to values that have"
        return DefaultsError(.refused, key: key(ofScope: scope), reason: "\(reason); migrate these values first")
    }
}

extension [String] {
    /// Returns the strings that the other ones do not contain, compared by their bytes.
    fileprivate func without(_ others: [String]) -> [String] {
        let others = Set(others.map(ByteString.init))
        return filter { !others.contains(ByteString($0)) }
    }

    fileprivate var quoted: String { map { "“\($0)”" }.joined(separator: ", ") }
}
