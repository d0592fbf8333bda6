import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList {
    /// Encodes a value. `Data` and `Date` keep their form; `URL` and `Decimal` become strings.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - userInfo: The `userInfo` of the encoder that the value's `encode(to:)` receives.
    /// - Throws: An `EncodingError`, or any error that the value's own `encode(to:)` throws.
    public init(encoding value: some Encodable, userInfo: [CodingUserInfoKey: any Sendable] = [:]) throws {
        // The root is never optional here. There is no key to remove, so nil and the string `$null`
        // must differ.
        let traits = RootTraits(type(of: value), canBeOptional: false)
        self = try Self.encoding(value, traits, userInfo: userInfo).node ?? .nilMarker
    }

    /// Encodes a value as a whole setting.
    ///
    /// - Parameter trace: Encodes for a comparison, unless it is `nil`; see ``RoundTripTrace``.
    /// - Returns: The node, which is `nil` for an optional without a value, and whether the value
    ///   has to be read back and compared because one of its types may read something else from the
    ///   node.
    static func encoding<Value: Encodable>(
        _ value: Value, _ traits: RootTraits, userInfo: [CodingUserInfoKey: any Sendable] = [:],
        trace: RoundTripTrace? = nil
    ) throws -> (node: PropertyList?, needsCheck: Bool) {
        if traits.isNative, trace == nil, let native = try nativeForm(of: value) { return (native, false) }
        let encoder = PropertyListTreeEncoder(
            Value.self, userInfo: userInfo, isOptionalRoot: traits.isOptional, trace: trace)
        defer { encoder.close() }
        // A comparison distinguishes a `String` from a `URL` with the same text, also at the root.
        if trace != nil, let native = try encoder.native(value, key: nil) { return (native, false) }
        try value.encode(to: encoder)
        guard let node = try encoder.finish(value) else { return (nil, encoder.needsCheck) }
        return (node, encoder.needsCheck || !encoder.isChecked(node, isRoot: true))
    }
}

/// The traits of the type of a whole setting that the coder needs.
///
/// They are determined once for each declaration and not at each save, because this searches the
/// type's conformances.
struct RootTraits: Sendable {
    /// Whether the type is an optional, so that a missing value is one of its values.
    let isOptional: Bool
    /// Whether the type has a form of its own; see `NativeValue`.
    let isNative: Bool

    init<Value>(_ type: Value.Type, canBeOptional: Bool = true) {
        let isPlain = isPlain(type)
        isOptional = canBeOptional && !isPlain && type is any AnyOptional.Type
        isNative = isPlain || type is any NativeValue.Type
    }
}

/// Encodes one node of the tree, directly as a `PropertyList`.
///
/// Containers write into their encoder. Nested containers and super encoders stay open, so they are
/// kept in a list and inserted at the end.
final class PropertyListTreeEncoder: Encoder {
    private enum Shape { case empty, single, unkeyed, keyed }

    private let parent: PropertyListTreeEncoder?
    private let key: (any CodingKey)?
    /// The number of encoders down to this one.
    private let depth: Int
    /// The number of dictionaries and arrays around the node.
    private let outerLevels: Int
    @exclusivity(unchecked)
    private var stack: StackWatch
    private let sharedUserInfo: [CodingUserInfoKey: any Sendable]
    /// Whether the node is a whole setting of optional type. Then nil removes the key, and a string
    /// needs no escape.
    fileprivate let isOptionalRoot: Bool
    /// The type that encodes itself here; `nil` in a nested container.
    private let valueType: Any.Type?
    /// Not `nil` if the node is used only for a comparison.
    fileprivate let trace: RoundTripTrace?
    /// Whether strings, numbers and Booleans are encoded in place, without a check or a trace.
    private let isPlain: Bool
    /// Whether the value has to be read back and compared.
    @exclusivity(unchecked)
    fileprivate var needsCheck = false
    /// The form in which the type has encoded itself so far.
    @exclusivity(unchecked)
    private var form = EncodedForm()
    /// The type that was written in each place of the value. Collected only for a comparison.
    private var places: [String: ObjectIdentifier] = [:]
    /// Whether the keys of the container are data. Set only for a comparison.
    private var hasDynamicKeys = false
    /// The nested type that was last found to be checked, so that an array looks it up only once.
    @exclusivity(unchecked)
    private var lastChecked: (type: Any.Type, form: UInt64)?

    // Unchecked, because no code of a type runs during these accesses.
    @exclusivity(unchecked)
    private var shape = Shape.empty
    @exclusivity(unchecked)
    fileprivate var single: PropertyList?
    @exclusivity(unchecked)
    fileprivate var elements: [PropertyList] = []
    @exclusivity(unchecked)
    fileprivate var entries: [String: PropertyList] = [:]
    @exclusivity(unchecked)
    private var open: [(place: Place, encoder: PropertyListTreeEncoder)] = []
    private enum Place {
        case index(Int)
        case key(String)
    }
    /// The first failure in a method that cannot throw.
    private var failure: (any Error)?

    init(
        _ valueType: Any.Type, userInfo: [CodingUserInfoKey: any Sendable], isOptionalRoot: Bool,
        trace: RoundTripTrace?
    ) {
        self.valueType = valueType
        self.trace = trace
        isPlain = trace == nil
        parent = nil
        key = nil
        depth = 1
        outerLevels = 0
        stack = StackWatch()
        sharedUserInfo = userInfo
        self.isOptionalRoot = isOptionalRoot
    }

    private init(parent: PropertyListTreeEncoder, key: (any CodingKey)?, valueType: Any.Type?) {
        self.parent = parent
        self.key = key
        self.valueType = valueType
        trace = parent.trace
        depth = parent.depth + 1
        outerLevels = parent.outerLevels + (parent.shape == .single ? 0 : 1)
        stack = parent.stack
        isPlain = trace == nil && outerLevels < PropertyList.depthLimit
        sharedUserInfo = parent.sharedUserInfo
        isOptionalRoot = false
    }

    var userInfo: [CodingUserInfoKey: Any] { sharedUserInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var encoder: PropertyListTreeEncoder? = self
        while let current = encoder {
            if let key = current.key { path.append(key) }
            encoder = current.parent
        }
        return path.reversed()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        take(.keyed, as: Key.self)
        // Reserves space for a config of the usual size, because growing would hash its keys again
        // at each step.
        if entries.isEmpty { entries = Dictionary(minimumCapacity: 6) }
        return KeyedEncodingContainer(KeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        take(.unkeyed, as: UnkeyedContainer.self)
        return UnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        take(.single, as: SingleValueContainer.self)
        return SingleValueContainer(encoder: self)
    }

    /// A subclass and its superclass may both ask for the container. They share one, so that
    /// neither loses data.
    private func take(_ wanted: Shape, as type: Any.Type) {
        form.addContainer(type)
        if shape == .empty {
            shape = wanted
        } else if shape != wanted, failure == nil {
            failure = invalid("asked for two different containers for one value")
        }
        if isTooDeep, failure == nil { failure = invalid(PropertyList.tooDeep) }
    }

    /// Whether the node is a dictionary or an array beyond the depth limit.
    @inline(__always)
    private var isTooDeep: Bool { outerLevels >= PropertyList.depthLimit && shape != .single }

    /// Notes that a value of the type is about to be written.
    @inline(__always)
    fileprivate func note(_ type: Any.Type, at place: @autoclosure () -> String) {
        form.addValue(type, before: { elements.count })
        if trace != nil { add(ObjectIdentifier(type), at: place()) }
    }

    /// Notes that a value of the type is about to be written under the key.
    @inline(__always)
    fileprivate func note(_ type: Any.Type, under key: some CodingKey) {
        noteForm(type, under: key)
        if trace != nil { add(ObjectIdentifier(type), at: key.nameInErrors) }
    }

    @inline(__always)
    fileprivate func noteForm(_ type: Any.Type, under key: some CodingKey) {
        form.addValue(type, under: key, before: { entries.count })
    }

    /// Notes the type in a place, or that there are several types.
    private func add(_ type: ObjectIdentifier, at place: String) {
        let known = places.updateValue(type, forKey: place)
        if let known, known != type { places[place] = EncodedForm.severalTypes }
    }

    /// Returns the node of a value that has encoded itself; `nil` for an optional root without a
    /// value.
    @inline(__always)
    fileprivate func finish<Value>(_ value: Value) throws -> PropertyList? {
        let node = try finish()
        guard case .array? = node else { return node }
        return node?.ordered(as: type(of: value))
    }

    /// Returns the node; `nil` for an optional root without a value.
    func finish() throws -> PropertyList? {
        for (place, encoder) in open {
            let node = try encoder.finish() ?? .nilMarker
            if encoder.needsCheck { needsCheck = true }
            switch place {
            case .index(let index): elements[index] = node
            case .key(let key):
                checkBytes(of: key)
                entries[key] = node
            }
            if trace != nil {
                let name =
                    switch place {
                    case .index(let index): "\(index)"
                    case .key(let key): encoder.key?.nameInErrors ?? key
                    }
                for (inner, type) in encoder.places { add(type, at: "\(name)\0\(inner)") }
            }
        }
        // Each form counts once, because the number of nested containers may be data.
        if !open.isEmpty {
            for hash in Set(open.map(\.encoder.form.hash)).sorted() { form.addNested(hash) }
        }
        if let failure { throw failure }
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        switch shape {
        case .empty: return .dictionary([:])
        case .single:
            guard let single else {
                guard isOptionalRoot else { throw invalid("encoded no value") }
                return nil
            }
            return single
        case .unkeyed: return .array(elements)
        case .keyed:
            if trace != nil {
                entries[RoundTripTrace.keyOfForm] = [RoundTripTrace.mark(form.containers), .bool(hasDynamicKeys)]
            }
            return .dictionary(entries)
        }
    }

    /// Returns whether the type that has encoded itself is known to read this node as the same
    /// value.
    fileprivate func isChecked(_ node: PropertyList, isRoot: Bool = false) -> Bool {
        guard let valueType else { return true }
        // An optional of this type could read this nil as its own, as in JSON.
        if node.isNilMarker, !isRoot { return valueType is any AnyOptional.Type }
        if let trace {
            if !(valueType is any AnyOptional.Type) {
                places["\0container"] = form.firstContainer
                trace.note(
                    .init(
                        type: valueType, form: form.hash, places: places, path: codingPath.map(\.stringValue)))
            }
            return true
        }
        // The table comes first: an optional is never in it, and finding out whether the type is
        // one takes longer.
        return CheckedTypes.contains(valueType, form.hash) || valueType is any AnyOptional.Type
    }

    /// Releases the encoders that stayed open, which have references to this one.
    fileprivate func close() {
        for (_, encoder) in open { encoder.close() }
        open = []
    }

    fileprivate func invalid(_ reason: String, at key: (any CodingKey)? = nil) -> EncodingError {
        // The type instead of the value, because an error must not contain a value.
        let path = codingPath + (key.map { [$0] } ?? [])
        return .invalidValue(
            PropertyList.self,
            .init(
                codingPath: path, debugDescription: reason,
                underlyingError: DefaultsError(.refused, reason: reason)))
    }

    /// Returns the node of an entry or element whose encoding cannot fail, so that no key is
    /// needed; `nil` for other values.
    @inline(__always)
    fileprivate func plainNode<Value: Encodable>(for value: Value) -> PropertyList? {
        isPlain ? plainForm(of: value)?.escapedFromNil : nil
    }

    /// Returns the node of an entry or element. A value with a native form is escaped here, other
    /// values escape their content.
    fileprivate func node<Value: Encodable>(for value: Value, key: any CodingKey) throws -> PropertyList {
        // The method that returns a container cannot throw.
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        guard let native = try native(value, key: key) else { return try nested(value, key: key) }
        return native.escapedFromNil
    }

    /// Returns the node of a single value.
    ///
    /// A string is escaped. A value that encodes itself escapes its content and passes on its nil,
    /// as in JSON. Only an optional adds a layer, because its own nil must differ from a nil inside
    /// it.
    fileprivate func singleNode<Value: Encodable>(for value: Value) throws -> PropertyList {
        note(Value.self, at: "")
        let native = try native(value, key: nil)
        let node = try native ?? nested(value, key: nil)
        if trace != nil { return RoundTripTrace.layer(around: node) }
        // A whole setting has no nil: its key is removed.
        if isOptionalRoot { return node }
        return native != nil || valueType is any AnyOptional.Type ? node.escapedFromNil : node
    }

    fileprivate func singleNil() -> PropertyList? {
        note(Never.self, at: "")
        return isOptionalRoot ? nil : .nilMarker
    }

    @inline(__always)
    fileprivate func native<Value>(_ value: Value, key: (any CodingKey)?) throws -> PropertyList? {
        do {
            guard let node = try nativeForm(of: value) else { return nil }
            return trace == nil ? node : RoundTripTrace.node(node, of: Value.self)
        } catch {
            throw invalid(error.reason, at: key)
        }
    }

    private var isStackEndNear: Bool {
        let wasKnown = stack.isEndKnown
        let isNear = stack.isEndNear()
        if !wasKnown, stack.isEndKnown {
            var encoder = parent
            while let outer = encoder, !outer.stack.isEndKnown {
                outer.stack = stack
                encoder = outer.parent
            }
        }
        return isNear
    }

    private func nested<Value: Encodable>(_ value: Value, key: (any CodingKey)?) throws -> PropertyList {
        guard depth < PropertyList.recursionLimit else { throw invalid(PropertyList.tooRecursive, at: key) }
        if isStackEndNear { throw invalid(PropertyList.tooDeepForStack, at: key) }
        let encoder = PropertyListTreeEncoder(parent: self, key: key, valueType: Value.self)
        defer { encoder.close() }
        try value.encode(to: encoder)
        let node = try encoder.finish(value) ?? .nilMarker
        noteCheck(of: encoder, node)
        return node
    }

    private func noteCheck(of nested: PropertyListTreeEncoder, _ node: PropertyList) {
        guard !needsCheck else { return }
        if let lastChecked, lastChecked.type == nested.valueType, lastChecked.form == nested.form.hash,
            !nested.needsCheck, !node.isNilMarker
        {
            return
        }
        needsCheck = nested.needsCheck || !nested.isChecked(node)
        if !needsCheck, let type = nested.valueType { lastChecked = (type, nested.form.hash) }
    }

    /// Returns an encoder for a part whose container stays open until this one finishes.
    private func opening(_ place: Place, key: any CodingKey) -> PropertyListTreeEncoder {
        if isTooDeep, let parent {
            // A sibling of this one, because releasing a chain of any length would recurse as deep.
            return PropertyListTreeEncoder(parent: parent, key: key, valueType: nil)
        }
        let encoder = PropertyListTreeEncoder(parent: self, key: key, valueType: nil)
        open.append((place, encoder))
        return encoder
    }

    /// Returns the encoder that is open under the key, or a new one.
    ///
    /// A subclass may ask for the container that its superclass has written. As in JSON, both share
    /// one container.
    fileprivate func openingEntry(_ key: any CodingKey) -> PropertyListTreeEncoder {
        if trace != nil, key.isData { hasDynamicKeys = true }
        if let index = indexOfOpenEntry(key) { return open[index].encoder }
        checkBytes(of: key.stringValue)
        noteForm(PropertyListTreeEncoder.self, under: key)
        let encoder = opening(.key(key.stringValue), key: key)
        switch entries.removeValue(forKey: key.stringValue) {
        case nil: break
        case .dictionary(let entries): (encoder.shape, encoder.entries) = (.keyed, entries)
        case .array(let elements): (encoder.shape, encoder.elements) = (.unkeyed, elements)
        default:
            if failure == nil { failure = invalid("asked for a container where a value was encoded", at: key) }
        }
        return encoder
    }

    private func indexOfOpenEntry(_ key: any CodingKey) -> Int? {
        open.firstIndex { place, _ in
            if case .key(let name) = place { name.hasSameBytes(as: key.stringValue) } else { false }
        }
    }

    @inline(__always)
    fileprivate func encode<Value: Encodable>(_ value: Value, forKey key: some CodingKey) throws {
        note(Value.self, under: key)
        put(try plainNode(for: value) ?? node(for: value, key: key), forKey: key)
    }

    @inline(__always)
    fileprivate func append<Value: Encodable>(_ value: Value) throws {
        note(Value.self, at: "\(elements.count)")
        elements.append(try plainNode(for: value) ?? node(for: value, key: IndexKey(elements.count)))
    }

    /// Inserts an entry. It replaces a container that is open under its key, as in JSON.
    @inline(__always)
    fileprivate func put(_ node: PropertyList, forKey key: some CodingKey) {
        if trace != nil, key.isData { hasDynamicKeys = true }
        if !open.isEmpty, let index = indexOfOpenEntry(key) { open.remove(at: index).encoder.close() }
        let (name, count) = (key.stringValue, entries.count)
        // The subscript with a default keeps the key of an existing entry.
        entries[name, default: .nilMarker] = node
        if entries.count == count { checkBytes(of: name) }
    }

    /// Records a failure if the entry with this name was created for a key with different bytes.
    private func checkBytes(of name: String) {
        guard failure == nil, let index = entries.index(forKey: name), !entries[index].key.hasSameBytes(as: name)
        else { return }
        failure = invalid("two keys of one container are the same text in different Unicode forms")
    }

    fileprivate func openingElement() -> PropertyListTreeEncoder {
        elements.append(.nilMarker)
        return opening(.index(elements.count - 1), key: IndexKey(elements.count - 1))
    }
}

// One generic `encode` also meets the requirements for the standard types.
extension PropertyListTreeEncoder {
    private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: PropertyListTreeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil(forKey key: Key) {
            encoder.noteForm(Never.self, under: key)
            encoder.put(.nilMarker, forKey: key)
        }
        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.encode(value, forKey: key) }
        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            guard let value else { return }
            // Of an optional in an optional, only the outer nil is a missing entry.
            if Value.self is any AnyOptional.Type {
                try encoder.encode(Optional(value), forKey: key)
            } else {
                try encoder.encode(value, forKey: key)
            }
        }

        // The protocol's own implementation for these two types throws.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func encode(_ value: Int128, forKey key: Key) throws { try encoder.encode(value, forKey: key) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func encode(_ value: UInt128, forKey key: Key) throws { try encoder.encode(value, forKey: key) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { encoder.openingEntry(key).container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            encoder.openingEntry(key).unkeyedContainer()
        }
        func superEncoder() -> any Encoder { encoder.openingEntry(SuperKey()) }
        func superEncoder(forKey key: Key) -> any Encoder { encoder.openingEntry(key) }
    }

    private struct UnkeyedContainer: UnkeyedEncodingContainer {
        let encoder: PropertyListTreeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { encoder.elements.count }

        func encodeNil() { encoder.elements.append(.nilMarker) }
        func encode<Value: Encodable>(_ value: Value) throws { try encoder.append(value) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func encode(_ value: Int128) throws { try encoder.append(value) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func encode(_ value: UInt128) throws { try encoder.append(value) }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            encoder.openingElement().container(keyedBy: type)
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.openingElement().unkeyedContainer() }
        func superEncoder() -> any Encoder { encoder.openingElement() }
    }

    private struct SingleValueContainer: SingleValueEncodingContainer {
        let encoder: PropertyListTreeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.single = encoder.singleNil() }
        func encode<Value: Encodable>(_ value: Value) throws { encoder.single = try encoder.singleNode(for: value) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func encode(_ value: Int128) throws { encoder.single = try encoder.singleNode(for: value) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func encode(_ value: UInt128) throws { encoder.single = try encoder.singleNode(for: value) }
    }
}
