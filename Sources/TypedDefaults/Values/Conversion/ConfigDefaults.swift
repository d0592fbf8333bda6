import SettingsFile

// What a config stores
// ====================
//
// `save`, `set` and `value =` store the whole value. An update stores the entries that it changed
// and those that were stored before. Every other entry is left out, so that it takes the default of
// the release that reads it.
//
// An entry is left out only if the type reads it from the default, which is so if decoding fails
// without it: the decoder then supplies the entry of the default. An optional, whose missing entry
// reads as nil, and what a hand-written `init(from:)` reads in its own way, are always stored. So
// is an entry that differs between two new instances, such as a `UUID()`. Each new combination of
// entries to leave out is tried once: the rest must read back equal.

/// The default of a config type, entry by entry.
final class ConfigDefaults: Sendable {
    private struct State {
        /// The entries of the default without which the type cannot be decoded, as far as known.
        var required: SuppliedEntries?
        /// The entries that an update may leave out, in the order in which the type writes them;
        /// `nil` until the first update.
        var optional: [Entry]?
        /// The combinations of these that were tried, as bits, and the last one.
        var tried: Set<[UInt64]> = []
        var lastTried: [UInt64] = []
    }
    /// An entry in its stored form.
    private struct Entry {
        let key: [UInt8]
        let value: [UInt8]
    }
    private let state = Locked(State())
    /// The default in its stored form, and its entries; `nil` if it is not a dictionary.
    private let whole: StoredValue?
    private let entries: [String: PropertyList]?
    /// Returns the stored form of another new instance.
    private let another: @Sendable () -> PropertyList?
    /// Returns the form in which a stored value is stored again after it was read, and whether it
    /// was read without a fault.
    private let rewritten: @Sendable (PropertyList) -> (form: PropertyList, isFaultless: Bool)?

    init<Config: DefaultConfig>(_ type: Config.Type) {
        let implementation = DefaultImplementation<Config>()
        let encoded = { @Sendable (value: Config) in (try? implementation.encode(value))?.tree }
        whole = try? implementation.encode(type.defaultInstance)
        entries = whole?.tree.entries
        another = { encoded(type.init()) }
        rewritten = { stored in
            // Safe: all boxes of this decoder are of this class.
            (try? implementation.decodeBox(.tree(stored), .stored).get()).flatMap {
                let box = unsafeDowncast($0, to: Box<Config>.self)
                return encoded(box.value).map { ($0, box.recovery == nil) }
            }
        }
    }

    /// The entries that the decoder supplies if a stored value lacks them.
    var required: SuppliedEntries? { state.withLock { $0.required } }

    /// Records that decoding has failed because an entry is missing.
    ///
    /// - Returns: Whether the decoder can supply the entry, so that decoding again may succeed.
    func supplies(_ error: any Error) -> Bool {
        guard case DecodingError.keyNotFound(let key, let context) = error, context.codingPath.isEmpty,
            let entry = entries?[key.stringValue]
        else { return false }
        return state.withLock { state in
            guard state.required?[key.stringValue] == nil else { return false }
            state.required = SuppliedEntries((state.required?.entries ?? []) + [(key.stringValue, .value(entry))])
            return true
        }
    }

    private var optional: [Entry] {
        if let known = state.withLock({ $0.optional }) { return known }
        // Decoding a value without entries finds those that are required.
        _ = rewritten(.dictionary([:]))
        let (another, required) = (another()?.entries ?? [:], required)
        var found: [Entry] = []
        whole?.serialized?.forEachEntry { key, value, _ in
            let name = String(decoding: key, as: UTF8.self)
            if case .value(let entry)? = required?[name], another[name] == entry {
                found.append(Entry(key: Array(key), value: Array(value)))
            }
        }
        state.withLock { $0.optional = found }
        return found
    }

    /// Returns what an update stores.
    ///
    /// - Parameters:
    ///   - new: The whole new value.
    ///   - old: The stored value; `nil` if there is none.
    ///   - behind: The value that counts while none is stored; `nil` if that is the default of the
    ///     type.
    ///   - isAssigned: Whether the value takes the place of none, so that it is stored even if it
    ///     is the default.
    ///   - before: What the update began with if it leaves out an entry that is stored and changes
    ///     to the default; `nil` if it does not.
    /// - Returns: `nil` if nothing is stored that can be read, and the new value is what counts
    ///   without a stored one.
    func chosen(
        in new: StoredValue, over old: StoredValue?, behind: PropertyList? = nil, isAssigned: Bool = false,
        forgettingFrom before: StoredValue? = nil
    ) -> StoredValue? {
        var old = old
        if case .tree(.data(let data))? = old { old = ForeignData(data).map { .tree($0.tree) } }
        guard let bytes = new.serialized, bytes.isDictionary else { return new }
        let stored = old?.serialized.flatMap { $0.isDictionary ? $0 : nil }
        let shown = behind.flatMap { StoredValue.tree($0).serialized }
        let before = before?.serialized
        if stored == nil, !isAssigned, new == behind.map(StoredValue.tree) ?? whole { return nil }
        let optional = optional
        var keepsOld = false
        var (left, kept, count, next) = ([UInt64](repeating: 0, count: optional.count / 64 + 1), [UInt8](), 0, 0)
        kept.reserveCapacity(bytes.count)
        bytes.forEachEntry { key, value, entry in
            if let tag = value.first, Self.isContainer(tag), let old = unchanged(key, value, in: stored) {
                kept += entry.dropLast(value.count) + old
                (count, keepsOld) = (count + 1, true)
                return
            }
            // Usually, the entries come in the order of those of the default.
            for turn in optional.indices {
                let index = (next + turn) % optional.count
                guard optional[index].key.elementsEqual(key) else { continue }
                next = index + 1
                guard Self.areEqual(value, optional[index].value) else { break }
                let isChanged = before.map { !Self.areEqual($0.entry(key) ?? [], optional[index].value) } ?? false
                if stored?.entry(key) != nil, !isChanged { break }
                // The layer has another value, so the default was chosen.
                if let shown = shown?.entry(key), !Self.areEqual(shown, optional[index].value) { break }
                left[index / 64] |= 1 << UInt64(index % 64)
                return
            }
            kept += entry
            count += 1
        }
        guard keepsOld || left.contains(where: { $0 != 0 }) else { return new }
        var writer = ByteWriter(capacity: kept.count + 10)
        writer.append(byte: ValueTag.dictionary.rawValue)
        writer.append(count: count)
        let result = StoredValue.bytes(
            kept.withUnsafeBytes { kept in
                writer.append(kept)
                return writer.withBytes { Array($0) }
            })
        if keepsOld || !state.withLock({ $0.lastTried == left || $0.tried.contains(left) }) {
            guard rewritten(result.tree)?.form == new.tree else { return new }
            state.withLock { state in
                // A type with many properties must not fill the memory.
                if state.tried.count == 256 { state.tried = [] }
                state.tried.insert(left)
                state.lastTried = left
            }
        }
        return result
    }

    /// Returns the stored form of a part that an update has not changed, such as a struct that
    /// lacks a new property; `nil` if the type would write the same or cannot read all of it.
    @inline(never)
    private func unchanged(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in stored: [UInt8]?
    ) -> [UInt8]? {
        guard let stored, let old = stored.entry(key), !Self.areEqual(value, old),
            case (let form, true)? = rewritten(StoredValue.bytes(stored).tree),
            let read = StoredValue.tree(form).serialized?.entry(key), Self.areEqual(value, read)
        else { return nil }
        return old
    }

    private static func isContainer(_ tag: UInt8) -> Bool {
        tag == ValueTag.dictionary.rawValue || tag == ValueTag.array.rawValue
    }

    /// Returns whether two stored values are equal, regardless of the order of entries in them.
    private static func areEqual(_ one: some Collection<UInt8>, _ other: [UInt8]) -> Bool {
        if one.elementsEqual(other) { return true }
        guard let tag = other.first, isContainer(tag) else { return false }
        return StoredValue.bytes(Array(one)).tree == StoredValue.bytes(other).tree
    }
}

extension StoredValue {
    /// The bytes; `nil` if the value is nested too deeply.
    fileprivate var serialized: [UInt8]? {
        switch self {
        case .bytes(let bytes): return bytes
        case .tree(let tree):
            var writer = ByteWriter(capacity: 64)
            return writer.append(tree) ? writer.withBytes { Array($0) } : nil
        }
    }
}

// The entries of a stored value, which is known to be valid.
extension [UInt8] {
    fileprivate var isDictionary: Bool { first == ValueTag.dictionary.rawValue }

    fileprivate func forEachEntry(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ entry: UnsafeRawBufferPointer) ->
            Void
    ) {
        guard isDictionary else { return }
        withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: 1)
            for _ in 0..<reader.count()! {
                let start = reader.position
                let key = reader.counted()!
                _ = reader.skipValue()
                func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
                    UnsafeRawBufferPointer(rebasing: bytes[range])
                }
                body(part(key), part(key.upperBound..<reader.position), part(start..<reader.position))
            }
        }
    }

    fileprivate func entry(_ name: UnsafeRawBufferPointer) -> [UInt8]? {
        var found: [UInt8]?
        forEachEntry { key, value, _ in if found == nil, key.elementsEqual(name) { found = Array(value) } }
        return found
    }
}

extension DefaultConfig {
    /// The default of the type, entry by entry.
    static var defaults: ConfigDefaults { ConfigDefaults.of(self) }

    fileprivate static func areStoredAlike(_ value: Any, _ other: Any?) -> Bool {
        let implementation = DefaultImplementation<Self>()
        guard let value = value as? Self, let form = try? implementation.encode(value) else { return false }
        return form == (try? implementation.encode(other as? Self ?? defaultInstance))
    }
}

/// Whether an update of a config that is not stored has left its default as it was, so that it need
/// not be stored. False for other types.
///
/// - Parameter defaultValue: The default; `nil` for that of the type.
func isStillDefault<Value>(_ value: Value, _ defaultValue: @autoclosure () -> Value?) -> Bool {
    guard let type = Value.self as? any DefaultConfig.Type else { return false }
    return type.areStoredAlike(value, defaultValue())
}

extension ConfigDefaults {
    private static let known = Locked<[ObjectIdentifier: ConfigDefaults]>([:])

    fileprivate static func of<Config: DefaultConfig>(_ type: Config.Type) -> ConfigDefaults {
        let id = ObjectIdentifier(type)
        if let found = known.withLock({ $0[id] }) { return found }
        // Outside the lock, because this runs code of the program.
        let new = ConfigDefaults(type)
        return known.withLock { known in
            if let found = known[id] { return found }
            known[id] = new
            return new
        }
    }
}

/// Entries that a decoder reads in place of missing ones.
final class SuppliedEntries: Sendable {
    let entries: [(key: String, node: StoredValueDecoder.Node)]

    init(_ entries: [(key: String, node: StoredValueDecoder.Node)]) { self.entries = entries }

    subscript(key: String) -> StoredValueDecoder.Node? {
        for entry in entries where entry.key == key { return entry.node }
        return nil
    }
}

extension PropertyList {
    fileprivate var entries: [String: PropertyList]? {
        if case .dictionary(let entries) = self { entries } else { nil }
    }
}
