// What a write stores
// ===================
//
// A change in place, such as an update, an assignment or a draft, knows two forms of the value: as
// its type writes it `before` and `after` the change. The top-level entries in which these differ
// are replaced in what is stored. All other entries stay as they are stored: those that the type
// does not know or cannot read, and those that are missing, so that they take the default of the
// release that reads them.
//
//     stored  { quality: 3,                  frames: 9 }    a newer release has stored `frames`
//     before  { quality: 3, flash: "auto" }                 `flash` is missing: its default counts
//     after   { quality: 5, flash: "auto" }
//     result  { quality: 5,                  frames: 9 }
//
// An entry is replaced as a whole, because the parts of a nested struct belong together. Only
// entries inside it that the type does not know stay. A whole write (`set`, `save`) replaces every
// entry.
//
// The result must read as `after` itself does, where a layer behind takes the place of what is
// missing. If it does not, the entries that read differently are stored as in `after`, such as one
// for which the type's own code has another default. If that is not enough, `after` is stored.

/// How the stored form of the values of one type changes.
struct ChangeRule: Sendable {
    let decode: Conversion<Never>.DecodeBox
    /// Returns the form of the value in a box; `nil` if it cannot be stored.
    private let form: @Sendable (AnyBox) -> PropertyList?
    /// Returns the form of a value that is stored as JSON, if it was stored as a tree.
    private let tree: @Sendable (AnyBox) -> PropertyList?
    /// The default of a config; `nil` for other types, which are stored whole if nothing is stored.
    private let defaults: DefaultEntries?
    private let kind: ConversionKind
    /// Whether each value reads as it was written, so that what is written is its form.
    private let isExact: Bool

    init<Value>(_ conversion: Conversion<Value>) {
        (decode, defaults, kind) = (conversion.decodeBox, conversion.defaults, conversion.kind)
        isExact = kind == .codable && RootTraits(unwrapped(Value.self)).isNative
        form = { box in
            (try? conversion.encoding(box.value(as: Value.self)).get()) ?? nil
        }
        tree = { box in
            (box.value(as: Value.self) as? any Encodable).flatMap { try? PropertyList(encoding: $0) }
        }
    }

    /// The two kinds of writes. A removal is the third.
    enum Write {
        case whole
        /// - Parameters:
        ///   - from: The form before the change, if nothing is stored that can be read; `nil` for
        ///     the default of the type.
        ///   - isForgetting: Whether the entries that change are no longer stored, so that they
        ///     read as their defaults.
        case change(from: PropertyList?, isForgetting: Bool = false)

        fileprivate var isWhole: Bool { if case .whole = self { true } else { false } }
        fileprivate var isForgetting: Bool { if case .change(_, true) = self { true } else { false } }

        /// The entries to change if nothing is stored that can be read; `nil` if all are stored.
        fileprivate func start(over base: PropertyList?, _ defaults: DefaultEntries?) -> [String: PropertyList]? {
            base == nil && !isWhole && defaults != nil ? [:] : nil
        }

        /// The form before the write.
        fileprivate func before(_ old: SeenValue, _ defaults: DefaultEntries?) -> [String: PropertyList] {
            switch self {
            case .whole: old.form?.entries ?? [:]
            case .change(let start, _): (old.form ?? start ?? defaults?.whole)?.entries ?? [:]
            }
        }

        /// Whether a write leaves nothing of a value that the type has written, as far as it was
        /// read.
        func replaces(_ old: SeenValue) -> Bool {
            old.isOwn && old.content.errors == nil && (isWhole || !isForgetting && old.form == old.stored)
        }
    }

    struct Outcome {
        /// What is stored, and what it reads as if it was read back.
        let new: SeenValue
        /// Why the old value must be copied; `nil` if no part of it is lost.
        var lost: DefaultsError?
    }

    /// Decodes a value that is about to change, and finds its form.
    func examined(_ seen: SeenValue) -> SeenValue {
        guard let stored = seen.stored else { return seen }
        var content = seen.content
        if case .notDecoded = content {
            switch decode(stored, behind: seen.behind) {
            case .success(let box): content = .value(box)
            case .failure(let error): content = .failure(error)
            }
        }
        guard seen.form == nil, let form = form(of: content) else { return seen.with(content) }
        return SeenValue(stored, behind: seen.behind, form: form, isOwn: seen.isOwn, content: content)
    }

    /// Decodes what is stored, with the properties of a layer in place of missing ones. If both
    /// together break a rule, those of the layer give way.
    func decode(_ stored: PropertyList, behind: [String: PropertyList]?) -> Result<AnyBox, DefaultsError> {
        if let behind, let entries = stored.entries {
            let box = decode(.dictionary(entries.merging(behind) { stored, _ in stored }), .stored)
            if case .success = box { return box }
        }
        return decode(stored, .stored)
    }

    /// Whether a layer replaces single properties.
    var isConfig: Bool { defaults != nil && kind != .jsonData }

    /// Returns the form of a value that was decoded.
    func form(of content: SeenValue.Content) -> PropertyList? {
        if case .value(let box) = content { form(box) } else { nil }
    }

    /// Returns why a value, or the first part of it, cannot be read.
    func failure(of stored: PropertyList) -> DefaultsError? {
        switch decode(stored, .stored) {
        case .success(let box): box.recovery?.errors.first
        case .failure(let error): error
        }
    }

    /// Returns what to store for a new value.
    ///
    /// - Parameters:
    ///   - old: What is stored, after ``examined(_:)``.
    ///   - after: The form of the new value; `nil` if it is stored as no value.
    func change(_ write: Write, over old: SeenValue, to after: PropertyList?) -> Outcome {
        guard let after else { return Outcome(new: .missing, lost: old.content.failure) }
        if write.replaces(old) { return Outcome(new: own(after, over: old)) }
        let base = old.content.failure == nil ? old.stored.map { readable($0, like: after) } : nil
        // Its elements may have entries that the type does not know.
        if case .array? = base, old.form == after, old.content.errors == nil { return Outcome(new: old) }
        var new: SeenValue?
        if let entries = base?.entries ?? write.start(over: base, defaults), let after = after.entries {
            new = replacing(write, in: entries, by: after, over: old, base)
        }
        let seen = new ?? own(after, over: old)
        return Outcome(new: seen, lost: loss(of: old, base, in: seen.stored))
    }

    /// Replaces what a write changes in what is stored.
    ///
    /// - Returns: `nil` if the new value is stored as it is.
    private func replacing(
        _ write: Write, in stored: [String: PropertyList], by after: [String: PropertyList], over old: SeenValue,
        _ base: PropertyList?
    ) -> SeenValue? {
        let (before, new) = (write.before(old, defaults), PropertyList.dictionary(after))
        var entries = stored
        // A newer release must not find a case of an enum beside one that only it knows.
        for fault in old.content.faults
        where write.isWhole || before[fault.path.first ?? ""] != after[fault.path.first ?? ""] {
            entries.remove(around: fault.path)
        }
        if write.isForgetting {
            var others = entries
            others.replace(before, by: after, isForgetting: true)
            // A layer may give another value than the default. An entry of which a part stays is
            // not removed.
            let (changed, known) = (before.keysThatDiffer(from: after), defaults?.whole?.entries ?? [:])
            let isDefault = old.behind != nil && changed.allSatisfy { after[$0] == known[$0] }
            let forgotten = isDefault ? changed : []
            if let seen = reads(others, as: new, over: old, base, except: forgotten).new { return seen }
        }
        entries.replace(before, by: after, ifEqual: write.isWhole)
        // Another instance of the default would differ, which reading back cannot find.
        if !write.isWhole {
            for key in defaults?.unstable ?? [] where entries[key] == nil && old.behind?[key] == nil {
                entries[key] = after[key]
            }
        }
        return entries.isEqual(to: after) ? nil : readingBack(entries, as: new, over: old, base)
    }

    /// Returns a form with the entries in which two others differ; `nil` if these do not fit
    /// together, such as two cases of an enum. Throws if a rule refuses them.
    func merging(
        _ current: PropertyList, from before: PropertyList, to after: PropertyList
    ) throws(DefaultsError) -> PropertyList? {
        func entries(_ form: PropertyList) -> [String: PropertyList]? {
            guard kind == .jsonData else { return form.entries }
            return (try? decode(form, .stored).get()).flatMap(tree)?.entries
        }
        guard var merged = entries(current), let before = entries(before), let after = entries(after) else {
            return nil
        }
        for key in before.keysThatDiffer(from: after) { merged[key] = after[key] }
        let new = PropertyList.dictionary(merged)
        guard let box = try? decode(new, .stored).get(), box.recovery == nil else {
            let list = FaultList()
            _ = decode(new, .list(list))
            if let broken = list.faults.first(where: { $0.kind == .invalid }) { throw broken }
            return nil
        }
        return kind == .jsonData ? form(box) : new
    }

    private func own(_ after: PropertyList, over old: SeenValue) -> SeenValue {
        SeenValue(after, behind: old.behind, form: isExact ? after : nil, isOwn: true)
    }

    /// Returns entries, or other ones in their place, that read as the new value does; `nil` if
    /// there are none.
    private func readingBack(
        _ new: [String: PropertyList], as after: PropertyList, over old: SeenValue, _ base: PropertyList?
    ) -> SeenValue? {
        let first = reads(new, as: after, over: old, base)
        if let new = first.new { return new }
        // Decoding may change a value, such as a name to lower case.
        var expected = after
        if let box = try? decode(after, .stored).get(), let form = form(box) { expected = form }
        var entries = new
        for key in first.read.keysThatDiffer(from: expected.entries ?? [:]) { entries[key] = after.entries?[key] }
        return reads(entries, as: expected, over: old, base).new
    }

    /// Decodes entries, and compares the form of the result with another one.
    ///
    /// - Returns: What is seen then if both are equal, and otherwise the entries that were read.
    private func reads(
        _ entries: [String: PropertyList], as expected: PropertyList, over old: SeenValue, _ base: PropertyList?,
        except names: Set<String> = []
    ) -> (new: SeenValue?, read: [String: PropertyList]) {
        let stored = PropertyList.dictionary(entries)
        guard let box = try? decode(stored, behind: old.behind).get(), let form = form(box) else { return (nil, [:]) }
        // A part that can no longer be read does not count as read, even if its default is the new
        // value.
        let faults = (box.recovery?.faults ?? []).filter { fault in
            let (key, faults) = (fault.path.prefix(1), old.content.faults)
            return base?.entry(at: key) != stored.entry(at: key) || !faults.contains { $0.path == fault.path }
        }
        let isRead =
            names.isEmpty
            ? kind.areEqual(form, expected)
            : (form.entries ?? [:]).keysThatDiffer(from: expected.entries ?? [:]).isSubset(of: names)
        if faults.isEmpty, isRead {
            return (SeenValue(stored, behind: old.behind, form: form, content: .value(box)), [:])
        }
        var read = form.entries ?? [:]
        for fault in faults { read[fault.path.first ?? ""] = nil }
        return (nil, read)
    }

    /// Returns JSON or a property list in data as a tree if the type is not stored as data.
    private func readable(_ stored: PropertyList, like form: PropertyList) -> PropertyList {
        guard case .data(let data) = stored else { return stored }
        if kind != .jsonData, case .data = form { return stored }
        return ForeignData(data)?.tree ?? stored
    }

    /// Returns why the old value must be copied: the new one lacks a part that could not be read,
    /// or one that the type does not know.
    private func loss(of old: SeenValue, _ base: PropertyList?, in new: PropertyList?) -> DefaultsError? {
        guard let base, let new else { return old.content.failure }
        for fault in old.content.faults where base.part(around: fault.path) != new.part(around: fault.path) {
            return fault.error
        }
        guard let form = old.form else { return nil }
        let (known, kept) = (readable(form, like: form), readable(new, like: form))
        guard base.loses(entriesUnknownTo: known, in: kept) else { return nil }
        return DefaultsError(.unreadable, reason: "the old value has entries that the type does not know")
    }
}

// Changes of entries.
extension [String: PropertyList] {
    /// Replaces the entries in which two forms differ.
    ///
    /// - Parameters:
    ///   - isAll: Whether entries that are equal in both forms are replaced, too.
    ///   - isForgetting: Whether the entries are removed instead.
    fileprivate mutating func replace(
        _ before: Self, by after: Self, ifEqual isAll: Bool = false, isForgetting: Bool = false
    ) {
        var common = 0
        _ = after.allPairs(with: before) { key, new, known in
            if known != nil { common += 1 }
            if isAll || known != new {
                self[key] = isForgetting ? nil : self[key]?.replaced(knownAs: known, by: new) ?? new
            }
            return true
        }
        guard common < before.count else { return }
        for key in before.keys where after[key] == nil { self[key] = nil }
    }

    fileprivate func keysThatDiffer(from other: Self) -> Set<String> {
        Set(keys).union(other.keys).filter { self[$0] != other[$0] }
    }

    /// Removes the part at a path, or the outermost array around it.
    fileprivate mutating func remove(around path: [String]) {
        var tree = PropertyList.dictionary(self)
        self = [:]
        let path = tree.outermostArray(around: path) ?? path
        _ = tree.edit(path[...]) { part, _ -> Void? in part = nil }
        self = tree.entries ?? [:]
    }
}

// Differences between trees.
extension PropertyList {
    package var entries: [String: PropertyList]? { if case .dictionary(let entries) = self { entries } else { nil } }

    /// Returns a new value, with the entries of this one that its type does not know, at any depth.
    ///
    /// - Parameter before: The form in which the type writes this value.
    fileprivate func replaced(knownAs before: PropertyList?, by new: PropertyList) -> PropertyList {
        guard case .dictionary(var entries) = self, case .dictionary(let old)? = before,
            case .dictionary(let after) = new
        else {
            // The elements of an array may have entries that their type does not know.
            if case .array = self, before == new { return self }
            return new
        }
        entries.replace(old, by: after, ifEqual: true)
        return .dictionary(entries)
    }

    /// Whether a new value lacks an entry that a form of this one does not show.
    fileprivate func loses(entriesUnknownTo form: PropertyList, in new: PropertyList?) -> Bool {
        switch (self, form) {
        case (.dictionary(let old), .dictionary(let known)):
            let new = new?.entries ?? [:]
            return old.contains { key, entry in
                guard let known = known[key] else { return new[key] != entry }
                return entry.isContainer && entry.loses(entriesUnknownTo: known, in: new[key])
            }
        case (.array(let old), .array(let known)):
            // Elements have no identity.
            return self != new
                && (old.count != known.count || zip(old, known).contains { $0.loses(entriesUnknownTo: $1, in: nil) })
        default: return false
        }
    }

    fileprivate var isContainer: Bool {
        switch self {
        case .array, .dictionary: true
        default: false
        }
    }

    /// Returns the part at a path, or the outermost array around it.
    fileprivate func part(around path: [String]) -> PropertyList? {
        entry(at: (outermostArray(around: path) ?? path)[...])
    }
}
