import SettingsFile

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
        self = try Self.tree(of: value, RootTraits(type(of: value)), userInfo: userInfo)
    }

    /// Encodes a value as a whole setting.
    ///
    /// - Returns: `nil` for an optional without a value.
    static func encoding<Value: Encodable>(
        _ value: Value, _ traits: RootTraits, noting optionals: OptionalPaths? = nil
    ) throws -> PropertyList? {
        let tree = try tree(of: value, traits, noting: optionals)
        guard traits.isOptional else { return tree }
        return tree.isNilMarker ? nil : tree.unescapedFromNil
    }

    private static func tree<Value: Encodable>(
        of value: Value, _ traits: RootTraits, userInfo: [CodingUserInfoKey: any Sendable] = [:],
        noting optionals: OptionalPaths? = nil
    ) throws -> PropertyList {
        if traits.isNative, let native = try nativeForm(of: value) { return native }
        let encoder = TreeEncoder(Value.self, userInfo: userInfo, noting: optionals)
        defer { encoder.close() }
        try value.encode(to: encoder)
        return try encoder.tree()
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

    init(_ type: Any.Type) {
        let isPlain = isPlain(type)
        isOptional = !isPlain && type is any AnyOptional.Type
        isNative = isPlain || NativeTypes[type] != nil
    }

    /// Returns what is stored as the decoder expects it. A whole setting has no nil, so its strings
    /// are not escaped from it.
    func node(_ stored: PropertyList) -> PropertyList { isOptional ? stored.escapedFromNil : stored }
}

/// The paths of the optionals of a default; see ``DefaultEntries``.
final class OptionalPaths {
    var all: [[String]] = []
}

/// Encodes one value as a tree.
final class TreeEncoder: Encoder {
    private enum Shape { case empty, single, unkeyed, keyed }

    private let parent: TreeEncoder?
    private let key: (any CodingKey)?
    /// The number of encoders down to this one.
    private let depth: Int
    /// The number of dictionaries and arrays around the value.
    private let outerLevels: Int
    private let sharedUserInfo: [CodingUserInfoKey: any Sendable]
    /// The type that encodes itself here; `nil` in a nested container.
    private let valueType: Any.Type?
    private let optionals: OptionalPaths?

    private var shape = Shape.empty
    private var single: PropertyList?
    private var elements: [PropertyList] = []
    // No foreign code runs while it is accessed. A check would take 160 instructions at each entry.
    @exclusivity(unchecked)
    private var entries: [String: PropertyList] = [:]
    /// The containers that are still open, as `nestedContainer` and `superEncoder` return them, and
    /// the indices of their elements.
    private var open: [(index: Int, encoder: TreeEncoder)] = []
    /// Whether a container was opened. Faster than to ask `open`, at each entry.
    private var isOpen = false
    /// The first failure in a method that cannot throw.
    private var failure: (any Error)?

    init(_ valueType: Any.Type, userInfo: [CodingUserInfoKey: any Sendable], noting optionals: OptionalPaths?) {
        (self.valueType, sharedUserInfo, self.optionals) = (valueType, userInfo, optionals)
        (parent, key, depth, outerLevels) = (nil, nil, 1, 0)
    }

    private init(parent: TreeEncoder, key: (any CodingKey)?, valueType: Any.Type?) {
        (self.parent, self.key, self.valueType) = (parent, key, valueType)
        depth = parent.depth + 1
        outerLevels = parent.outerLevels + (parent.shape == .single ? 0 : 1)
        sharedUserInfo = parent.sharedUserInfo
        optionals = parent.optionals
    }

    var userInfo: [CodingUserInfoKey: Any] { sharedUserInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var encoder: TreeEncoder? = self
        while let current = encoder {
            if let key = current.key { path.append(key) }
            encoder = current.parent
        }
        return path.reversed()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        take(.keyed)
        return KeyedEncodingContainer(KeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        take(.unkeyed)
        return UnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        take(.single)
        return SingleValueContainer(encoder: self)
    }

    /// A subclass and its superclass may both ask for the container. They share one, so that
    /// neither loses data.
    private func take(_ wanted: Shape) {
        if shape == .empty {
            shape = wanted
            // Unlike `reserveCapacity`, this is specialized.
            if wanted == .keyed { entries = Dictionary(minimumCapacity: 8) }
        }
        if shape != wanted { fail("encode(to:) used two different containers for one value") }
        if isTooDeep { fail(PropertyList.tooDeep) }
    }

    /// Whether the value is a dictionary or an array beyond the depth limit.
    private var isTooDeep: Bool { outerLevels >= PropertyList.depthLimit && shape != .single }

    private func fail(_ reason: String) { failure = failure ?? invalid(reason) }

    private func invalid(_ reason: String, at key: (any CodingKey)? = nil) -> EncodingError {
        // The type instead of the value, because an error must not contain a value.
        .invalidValue(
            PropertyList.self,
            .init(
                codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: reason,
                underlyingError: DefaultsError(.refused, reason: reason)))
    }

    /// Releases the encoders that stayed open, which have references to this one.
    func close() {
        guard isOpen else { return }
        for (_, encoder) in open { encoder.close() }
        open = []
    }

    /// The tree of the value.
    func tree() throws -> PropertyList {
        if let failure { throw failure }
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        for (index, encoder) in isOpen ? open : [] {
            let part = try encoder.tree()
            if shape == .keyed { insert(part, encoder.key!.stringValue) } else { elements[index] = part }
        }
        if let failure { throw failure }
        switch shape {
        case .empty: return .dictionary([:])
        case .keyed: return .dictionary(entries)
        case .unkeyed:
            guard elements.count > 1, let valueType else { return .array(elements) }
            return PropertyList.array(elements).ordered(as: valueType)
        case .single:
            guard let single else { throw invalid("encoded no value") }
            return single
        }
    }
}

// Values.
extension TreeEncoder {
    /// Adds the value of a key. Its last value counts.
    private func insert(_ value: PropertyList, _ name: String) {
        guard entries.updateValue(value, forKey: name) != nil else { return }
        if let index = entries.index(forKey: name), !entries[index].key.hasSameBytes(as: name) {
            fail("two keys of one container are the same text in different Unicode forms")
        }
    }

    private func encode<Value: Encodable>(_ value: Value, forKey key: some CodingKey) throws {
        put(try node(of: value, key: key), key)
    }

    /// Adds the value of a key, in place of a container that is open under it.
    private func put(_ value: PropertyList, _ key: some CodingKey) {
        let name = key.stringValue
        if isOpen { open.removeAll { $0.encoder.key?.stringValue == name } }
        insert(value, name)
    }

    private func append<Value: Encodable>(_ value: Value) throws {
        elements.append(try node(of: value, key: IndexKey(elements.count)))
    }

    /// Encodes the single value. A second value replaces the first one.
    ///
    /// A string is escaped. A value that encodes itself escapes its content and passes on its nil,
    /// as in JSON. Only an optional adds a layer, because its own nil must differ from a nil inside
    /// it.
    private func encodeSingle<Value: Encodable>(_ value: Value) throws {
        single = nil
        if let native = try native(value, key: nil) {
            single = native.escapedFromNil
        } else {
            let node = try nested(value, key: nil)
            single = valueType is any AnyOptional.Type ? node.escapedFromNil : node
        }
    }

    /// Encodes a tree as it is.
    func encode(tree: PropertyList) {
        take(.single)
        if tree.isNested(deeperThan: PropertyList.depthLimit - outerLevels) { fail(PropertyList.tooDeep) }
        single = tree.escapedFromNil
    }

    /// Whether this is inside a config that is not the root, whose own default might count.
    private var isInConfig: Bool {
        guard optionals != nil, let parent else { return false }
        return valueType is any DefaultConfig.Type || parent.isInConfig
    }

    private func noteOptional(_ key: any CodingKey) {
        optionals?.all.append((codingPath + [key]).map(\.stringValue))
    }

    /// Returns the form of an entry or element. A value with a native form is escaped here, other
    /// values escape their content.
    private func node<Value: Encodable>(of value: Value, key: some CodingKey) throws -> PropertyList {
        // The method that returns a container cannot throw.
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        if let native = try native(value, key: key) { return native.escapedFromNil }
        return try nested(value, key: key)
    }

    private func native<Value>(_ value: Value, key: (any CodingKey)?) throws -> PropertyList? {
        let form: PropertyList?
        do { form = try nativeForm(of: value) } catch { throw invalid(error.reason, at: key) }
        if case .dictionary? = form, outerLevels + (shape == .single ? 0 : 1) >= PropertyList.depthLimit {
            throw invalid(PropertyList.tooDeep)
        }
        return form
    }

    private func nested<Value: Encodable>(_ value: Value, key: (any CodingKey)?) throws -> PropertyList {
        guard depth < PropertyList.recursionLimit else { throw invalid(PropertyList.tooRecursive, at: key) }
        let encoder = TreeEncoder(parent: self, key: key, valueType: Value.self)
        defer { encoder.close() }
        try value.encode(to: encoder)
        return try encoder.tree()
    }
}

// Containers that stay open.
extension TreeEncoder {
    /// Returns the encoder that is open under a key, or a new one. A subclass may ask for the
    /// container that its superclass has written. As in JSON, both share one.
    private func opening(_ key: any CodingKey) -> TreeEncoder {
        let name = key.stringValue
        if let known = open.first(where: { $0.encoder.key?.stringValue.hasSameBytes(as: name) == true }) {
            return known.encoder
        }
        let encoder = opening(key, at: 0)
        switch entries.removeValue(forKey: name) {
        case .array(let elements)?: (encoder.elements, encoder.shape) = (elements, .unkeyed)
        case .dictionary(let entries)?: (encoder.entries, encoder.shape) = (entries, .keyed)
        case nil: break
        default: fail("opened a container under a key that already has a value of another kind")
        }
        return encoder
    }

    private func openingElement() -> TreeEncoder {
        elements.append(false)
        return opening(IndexKey(elements.count - 1), at: elements.count - 1)
    }

    private func opening(_ key: any CodingKey, at index: Int) -> TreeEncoder {
        // Beyond the limit, it is a sibling, because releasing a chain of any length would recurse
        // as deeply.
        guard !isTooDeep else { return TreeEncoder(parent: parent ?? self, key: key, valueType: nil) }
        let encoder = TreeEncoder(parent: self, key: key, valueType: nil)
        open.append((index, encoder))
        isOpen = true
        return encoder
    }
}

// One generic `encode` also meets the requirements for the standard types.
extension TreeEncoder {
    private struct KeyedContainer<Key: CodingKey>: NilEncodingContainer {
        let encoder: TreeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil(forKey key: Key) { encoder.put(.nilMarker, key) }
        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.encode(value, forKey: key) }
        func encodeOptional<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            guard let value else {
                if encoder.isInConfig { encoder.noteOptional(key) }
                return encodeNil(forKey: key)
            }
            encoder.noteOptional(key)
            // Of an optional in an optional, only the outer nil is that of the entry.
            if Value.self is any AnyOptional.Type {
                try encoder.encode(Optional(value), forKey: key)
            } else {
                try encoder.encode(value, forKey: key)
            }
        }
        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { encoder.opening(key).container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            encoder.opening(key).unkeyedContainer()
        }
        func superEncoder() -> any Encoder { encoder.opening(SuperKey()) }
        func superEncoder(forKey key: Key) -> any Encoder { encoder.opening(key) }
    }

    private struct UnkeyedContainer: UnkeyedEncodingContainer {
        let encoder: TreeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { encoder.elements.count }

        func encodeNil() { encoder.elements.append(.nilMarker) }
        func encode<Value: Encodable>(_ value: Value) throws { try encoder.append(value) }
        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            encoder.openingElement().container(keyedBy: type)
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.openingElement().unkeyedContainer() }
        func superEncoder() -> any Encoder { encoder.openingElement() }
    }

    private struct SingleValueContainer: SingleValueEncodingContainer {
        let encoder: TreeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.single = .nilMarker }
        func encode<Value: Encodable>(_ value: Value) throws { try encoder.encodeSingle(value) }
    }
}
