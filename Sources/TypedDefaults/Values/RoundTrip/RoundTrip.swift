import SettingsFile

/// Compares a value with its copy from the stored form, and decides whether the value may be
/// stored.
///
/// A value may be stored if the copy is the same. It may also be stored if the copy differs because
/// the type's own decoding changes the value, such as a type that limits a number to a range: then
/// ``DefaultStoreType/get()`` returns the changed value from the first save on. It is refused where
/// data would be lost. At each place where the copy differs, one of these must hold:
///
/// - Encoding the same value twice gives different results there, such as a time stamp.
/// - All of these hold: the copy has the same type there, a second round trip changes nothing
///   more, the type changes the value without the coder as well, and the type reads the place at
///   all.
///
/// A value need not be `Equatable`, so values are compared by what they encode to.
struct RoundTrip<Value> {
    let value: Value
    let written: PropertyList
    /// Creates a value from its stored form.
    let read: (PropertyList) throws -> Value
    /// Returns the stored form of a value.
    let write: (Value) throws -> PropertyList?
    /// Returns the tree by which a value is compared.
    let trace: (Value) throws -> PropertyList?
    /// Converts the value without the coder and returns the result; `nil` if only the type can have
    /// changed the value.
    var readDirectly: (() throws -> Value?)?
    /// Returns whether the stored tree would decode to the same value without the place.
    ///
    /// The second argument is the place in the copy.
    let ignores: ([String], PropertyList?) -> Bool
    /// The reason of the error for a value that has changed.
    let reason: String

    /// Throws a ``DefaultsError`` of kind ``DefaultsError/Kind/refused`` unless the value may be
    /// stored.
    func check() throws(DefaultsError) {
        let lostNames: [String]?
        do {
            let copy = try read(written)
            let (before, after) = (try trace(value), try trace(copy))
            var comparison = Comparison<Value>(ignores: ignores) {
                guard let copy = try? read(written) else { return nil }
                return (copy, try? trace(copy))
            }
            if comparison.areSame(before, after) { return }
            let settled = if let stored = try write(copy) { try trace(read(stored)) } else { nil as PropertyList? }
            var direct = after
            if let readDirectly {
                direct = if let value = try readDirectly() { try trace(value) } else { nil }
            }
            // Encoded last, so that a time stamp has changed since.
            let again = try trace(value)
            lostNames = comparison.lostPlace(
                Place(before: before, after: after, settled: settled, direct: direct, again: again))
        } catch {
            let error = error as? DefaultsError ?? DefaultsError(decoding: Value.self, error)
            throw DefaultsError(
                .refused, type: error.type ?? "\(Value.self)", path: error.path,
                reason: "the type does not read what it writes: \(error.reason)")
        }
        if let lostNames { throw DefaultsError(.refused, type: "\(Value.self)", path: lostNames, reason: reason) }
    }
}

/// One place in the trees that are compared; `nil` in a tree that does not have it.
private struct Place {
    /// The value that is to be stored.
    var before: PropertyList?
    /// Its copy.
    var after: PropertyList?
    /// The copy of the copy.
    var settled: PropertyList?
    /// The value, converted without the coder.
    var direct: PropertyList?
    /// The value, encoded a second time.
    var again: PropertyList?
    /// The path in the stored form.
    var keys: [String] = []
    /// The path in an error.
    var names: [String] = []

    func entry(_ key: String, isData: Bool) -> Place {
        func entry(_ tree: PropertyList?) -> PropertyList? { tree?.entry(key) }
        let isPlace = key != RoundTripTrace.keyOfContent
        return Place(
            before: entry(before), after: entry(after), settled: entry(settled), direct: entry(direct),
            again: entry(again), keys: isPlace ? keys + [key] : keys,
            names: isPlace ? names + [isData ? "*" : key] : names)
    }
}

private struct Comparison<Value> {
    let ignores: ([String], PropertyList?) -> Bool
    /// Returns one more copy and what it encodes to; `nil` if it cannot be made.
    let makeCopy: () -> (value: Value, tree: PropertyList?)?
    private var orderVaries: Bool?
    /// The places that were found to be read, without the indices of array elements.
    private var readPlaces: Set<[String]> = []

    init(
        ignores: @escaping ([String], PropertyList?) -> Bool,
        makeCopy: @escaping () -> (value: Value, tree: PropertyList?)?
    ) {
        (self.ignores, self.makeCopy) = (ignores, makeCopy)
    }

    /// Returns whether both trees are equal, arrays in the same order unless the type writes any
    /// order.
    mutating func areSame(_ one: PropertyList?, _ other: PropertyList?) -> Bool {
        if one == other { return true }
        guard one?.bytesRegardlessOfOrder == other?.bytesRegardlessOfOrder else { return false }
        let orderVaries = orderVaries ?? hasVaryingOrder()
        self.orderVaries = orderVaries
        return orderVaries
    }

    /// Returns whether the copies of one stored value differ in the order of their arrays.
    ///
    /// A type may write a set as an array, in the order that the set has in memory. A type that
    /// reverses or sorts an array gives all copies one order.
    private func hasVaryingOrder() -> Bool {
        // Two elements have the same order half of the time. The copies are retained, because a set
        // at the address of a released one would have the same order.
        var copies: [Value] = []
        var first: PropertyList??
        return (0..<25).contains { _ in
            guard let copy = makeCopy() else { return false }
            copies.append(copy.value)
            if first == nil { first = copy.tree }
            return first != copy.tree
        }
    }

    /// Returns the path, for an error, to a place whose data would be lost; `nil` if there is none.
    mutating func lostPlace(_ place: Place) -> [String]? {
        if areSame(place.before, place.after) { return nil }
        switch (place.before, place.after) {
        case (.dictionary(let before), .dictionary(let after)):
            for key in [RoundTripTrace.keyOfType, RoundTripTrace.keyOfForm] where before[key] != after[key] {
                return place.names
            }
            let isData = place.before?.hasDataKeys == true
            let keys = Set(before.keys)
            // Entries of a dictionary may be dropped or added, but properties of a type must not
            // be.
            guard !isData || keys == Set(after.keys) else { return isChangedByType(at: place) ? nil : place.names }
            return firstLostPlace(keys.union(after.keys).sorted().map { place.entry($0, isData: isData) })
        case (.array(let before), .array(let after)):
            // The elements may only have been sorted or dropped.
            guard before.count == after.count, !after.isSelection(of: before) else {
                return isChangedByType(at: place) ? nil : place.names
            }
            return firstLostPlace(before.indices.map { place.entry(String($0), isData: false) })
        default: return isChangedByType(at: place) ? nil : place.names
        }
    }

    private mutating func firstLostPlace(_ places: [Place]) -> [String]? {
        for place in places {
            if let names = lostPlace(place) { return names }
        }
        return nil
    }

    /// Returns whether the type itself has changed the value at the place, or writes a different
    /// one each time.
    private mutating func isChangedByType(at place: Place) -> Bool {
        // The coder has no form for an optional in an optional that a type encodes as its single
        // value.
        guard place.before?.isNilInside != true, place.after?.isNilInside != true else { return false }
        if let before = place.before, let after = place.after {
            guard before.hasTypes(of: after) || after.hasTypes(of: before) else { return false }
            if let again = place.again, before != again { return true }
        }
        guard areSame(place.after, place.settled), !areSame(place.before, place.direct) else { return false }
        if place.before == nil { return true }
        let names = place.names.filter { Int($0) == nil }
        return readPlaces.contains(names) || !ignores(place.keys, place.after) && readPlaces.insert(names).inserted
    }
}

extension [PropertyList] {
    fileprivate func isSelection(of others: [PropertyList]) -> Bool {
        var left: [PropertyList: Int] = [:]
        for other in others { left[other, default: 0] += 1 }
        return allSatisfy { element in
            left[element, default: 0] -= 1
            return left[element, default: 0] >= 0
        }
    }
}

extension PropertyList {
    fileprivate func entry(_ key: String) -> PropertyList? {
        let entry: PropertyList? =
            switch self {
            case .dictionary(let entries): entries[key]
            case .array(let elements): Int(key).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: nil
            }
        // A written nil is equivalent to a missing entry.
        return entry?.isNilMarker == true ? nil : entry
    }

    /// Whether a single value container holds a nil.
    fileprivate var isNilInside: Bool {
        guard case .dictionary(let entries) = self, let content = entries[RoundTripTrace.keyOfContent] else {
            return false
        }
        return content.isNilMarker || content.isNilInside
    }

    /// Returns what a tree has at a path, without the marks of a ``RoundTripTrace``.
    func content(at path: ArraySlice<String>) -> PropertyList? {
        if let content = entry(RoundTripTrace.keyOfContent) { return content.content(at: path) }
        guard let key = path.first else { return self }
        return entry(key)?.content(at: path.dropFirst())
    }

    /// Returns the tree without the entry at a path; `nil` if it cannot be left out.
    ///
    /// An element of an array, and the whole tree, are emptied if they hold other values, because
    /// leaving them out would move others to their place.
    func removing(_ path: ArraySlice<String>) -> PropertyList? {
        switch self {
        case .dictionary(var entries):
            guard let key = path.first, let entry = entries[key] else { return path.isEmpty ? .dictionary([:]) : nil }
            if path.count == 1 {
                entries[key] = nil
            } else {
                guard let entry = entry.removing(path.dropFirst()) else { return nil }
                entries[key] = entry
            }
            return .dictionary(entries)
        case .array(var elements):
            guard let index = path.first.flatMap({ Int($0) }) else { return .array([]) }
            guard elements.indices.contains(index), let element = elements[index].removing(path.dropFirst()) else {
                return nil
            }
            elements[index] = element
            return .array(elements)
        default: return nil
        }
    }

    /// Whether the keys are data, and not the names of properties; known of traced trees only.
    fileprivate var hasDataKeys: Bool {
        if case .array(let form)? = entry(RoundTripTrace.keyOfForm) { form.last == true } else { false }
    }

    /// Returns whether the values of another tree of the same kind have no types that this one
    /// lacks.
    fileprivate func hasTypes(of other: PropertyList) -> Bool {
        switch (self, other) {
        case (.array(let mine), .array(let others)): Set(mine.map(\.shape)).isSuperset(of: others.map(\.shape))
        case (.dictionary(let mine), .dictionary(let others)):
            Set(mine.values.map(\.shape)).isSuperset(of: others.values.map(\.shape))
        default: kindName == other.kindName
        }
    }

    /// A hash of the kinds of its parts; the kinds of an array's elements count once.
    var shape: Int {
        var hasher = Hasher()
        hasher.combine(kindName)
        switch self {
        case .array(let elements): hasher.combine(Set(elements.map(\.shape)))
        case .dictionary(let entries):
            hasher.combine(
                Dictionary(
                    uniqueKeysWithValues: entries.map { key, value in
                        (key, RoundTripTrace.isMark(key) ? value.hashValue : value.shape)
                    }))
        default: break
        }
        return hasher.finalize()
    }
}
