#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList {
    /// Decodes a value from the form that ``init(encoding:userInfo:)`` writes, or one that its type
    /// also accepts.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - userInfo: The `userInfo` of the decoder that the type's `init(from:)` receives.
    /// - Throws: A `DecodingError` without a stored value in its text, or any error that the type's
    ///   own `init(from:)` throws. The coding path of the error contains the keys of dictionaries,
    ///   so do not log it if keys are private.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> Value {
        var rules = DecodingRules(userInfo: userInfo)
        do { return try DecodingAttempt(rules).decode(from: self) } catch {
            rules.leniency = .all
            return try DecodingAttempt(rules).decode(from: self)
        }
    }
}

/// Decodes a value from one node of a tree.
final class TreeDecoder: Decoder {
    private let attempt: DecodingAttempt
    private let node: PropertyList
    /// The type that decodes itself here; `nil` in a nested container.
    private let valueType: Any.Type?
    private let parent: TreeDecoder?
    private let key: (any CodingKey)?
    /// The number of decoders down to this one.
    private let depth: Int
    /// The number of dictionaries and arrays around the node.
    private let outerLevels: Int

    init(_ attempt: DecodingAttempt, _ node: PropertyList, valueType: Any.Type) {
        (self.attempt, self.node, self.valueType) = (attempt, node, valueType)
        (parent, key, depth, outerLevels) = (nil, nil, 1, 0)
    }

    private init(
        parent: TreeDecoder, node: PropertyList, key: (any CodingKey)?, valueType: Any.Type? = nil,
        isSingle: Bool = false
    ) throws {
        (attempt, self.node, self.parent, self.key) = (parent.attempt, node, parent, key)
        self.valueType = valueType
        depth = parent.depth + 1
        outerLevels = parent.outerLevels + (isSingle ? 0 : 1)
        guard depth <= PropertyList.recursionLimit else { throw parent.corrupted(PropertyList.tooRecursive, at: key) }
    }

    var userInfo: [CodingUserInfoKey: Any] { attempt.rules.userInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var decoder: TreeDecoder? = self
        while let current = decoder {
            if let key = current.key { path.append(key) }
            decoder = current.parent
        }
        return path.reversed()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let node = filled()
        guard case .dictionary(let entries) = node else { throw mismatch([String: Any].self, "a dictionary", node) }
        try checkLevel()
        attempt.noteEntries(entries, type, isRoot: outerLevels == 0, at: codingPath)
        let supplied = outerLevels == 0 ? attempt.rules.supplied : []
        return KeyedDecodingContainer(KeyedContainer<Key>(decoder: self, entries: entries, supplied: supplied))
    }

    /// Returns the node with what the default of the whole value lacks, such as that of an element
    /// of an array.
    private func filled() -> PropertyList {
        guard parent != nil, let config = valueType as? any DefaultConfig.Type else { return node }
        let filled = config.defaults.filling(node)
        if !filled.paths.isEmpty { attempt.noteDefaults(filled.paths, in: codingPath) }
        return filled.tree
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = node else { throw mismatch([Any].self, "an array", node) }
        try checkLevel()
        return UnkeyedContainer(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValueContainer(decoder: self) }

    /// Returns the tree as it is: the counterpart of the encoder's `encode(tree:)`.
    func tree() throws -> PropertyList {
        // All entries are read, also if another type was tried before.
        attempt.noteTree(at: codingPath)
        guard let tree = attempt.rules.tree(node, at: path(nil)) else {
            throw mismatch(PropertyList.self, "a value", node)
        }
        return tree
    }

    private func checkLevel() throws {
        guard outerLevels < PropertyList.depthLimit else { throw corrupted(PropertyList.tooDeep, at: nil) }
    }
}

// Errors.
extension TreeDecoder {
    private func context(_ reason: String, at key: (any CodingKey)?) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: reason,
            underlyingError: DefaultsError(.unreadable, reason: reason))
    }

    /// A value that is about to be stored is not stored.
    private var stored: String { attempt.rules.isGiven ? "given" : "stored" }

    private func corrupted(_ reason: String, at key: (any CodingKey)?) -> DecodingError {
        .dataCorrupted(context(reason, at: key))
    }

    private func absent(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(key, context("“\(key.nameInErrors)” is missing", at: nil))
    }

    private func mismatch(
        _ type: Any.Type, _ expected: String, _ node: PropertyList, at key: (any CodingKey)? = nil, isNil: Bool? = nil
    ) -> DecodingError {
        if isNil ?? node.isNilMarker {
            return .valueNotFound(type, context("expected \(expected), but nil is \(stored)", at: key))
        }
        return .typeMismatch(type, context("expected \(expected), but \(node.kindName) is \(stored)", at: key))
    }
}

// Values.
extension TreeDecoder {
    /// Decodes an entry or element: the counterpart of the encoder's `node(of:key:)`.
    private func decode<Value: Decodable>(
        _ type: Value.Type, from node: PropertyList, key: some CodingKey
    ) throws -> Value {
        if node.isNilMarker { try checkIsNotNil(type, node, at: key) }
        return try value(
            type, from: node.unescapedFromNil, key: key, isNil: node.isNilMarker,
            elseFrom: TreeDecoder(parent: self, node: node, key: key, valueType: type))
    }

    /// Decodes a single value: the counterpart of the encoder's `encodeSingle(_:)`.
    private func decodeSingle<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var node = node
        if node.isNilMarker { try checkIsNotNil(type, node, at: nil) }
        if case .string = node,
            Value.self == String.self || NativeTypes[Value.self] != nil || valueType is any AnyOptional.Type
        {
            node = node.unescapedFromNil
        }
        return try value(
            type, from: node, key: nil, isNil: self.node.isNilMarker,
            elseFrom: TreeDecoder(parent: self, node: node, key: nil, valueType: type, isSingle: true))
    }

    /// Decodes a value: natively if its type has a native form, by its own `init(from:)` otherwise.
    ///
    /// - Parameters:
    ///   - key: The key of the value, which is only created if it is needed.
    ///   - isNil: Whether nil is stored there. The node does not show this, because its escape is
    ///     removed.
    ///   - decoder: The decoder for a type without a native form.
    func value<Value: Decodable>(
        _ type: Value.Type, from node: PropertyList, key: @autoclosure () -> (any CodingKey)?,
        isNil: @autoclosure () -> Bool, elseFrom decoder: @autoclosure () throws -> TreeDecoder
    ) throws -> Value {
        // As in `nativeForm(of:)`, compares the most common types first.
        switch node {
        case .string(let value) where Value.self == String.self: return same(value, as: Value.self)
        case .bool(let value) where Value.self == Bool.self: return same(value, as: Value.self)
        case .double(let value) where Value.self == Double.self: return same(value, as: Value.self)
        case .integer(let value) where Value.self == Int.self:
            if let value = Int(exactly: value) { return same(value, as: Value.self) }
        default: break
        }
        guard let native = NativeTypes[Value.self] else { return try nested(type, from: decoder()) }
        // Safe: `native` is `Value`.
        if let value = attempt.rules.value(native, of: node, at: path(key())) {
            if case .data = node { attempt.noteData() }
            return value as! Value
        }
        if attempt.rules.readsCodableForm(of: type) { return try nested(type, from: decoder()) }
        if isNumber(type), node.kindName == PropertyList.integer(0).kindName {
            throw corrupted("the \(stored) number does not fit \(type)", at: key())
        }
        throw mismatch(type, "\(type)", node, at: key(), isNil: isNil())
    }

    private func nested<Value: Decodable>(_ type: Value.Type, from decoder: TreeDecoder) throws -> Value {
        do { return try Value(from: decoder) } catch {
            attempt.noteFailure(of: type, at: decoder.codingPath, error)
            throw error
        }
    }

    /// Throws if nil is stored and the type would read it as the string `$null`.
    private func checkIsNotNil(_ type: (some Decodable).Type, _ node: PropertyList, at key: (any CodingKey)?) throws {
        if NativeTypes[type] != nil { throw mismatch(type, "\(type)", node, at: key) }
    }

    private func path(_ key: (any CodingKey)?) -> [String] {
        (codingPath + (key.map { [$0] } ?? [])).map(\.stringValue)
    }
}

// The containers. One generic `decode` also meets the requirements for the standard types.
extension TreeDecoder {
    private struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: TreeDecoder
        let entries: [String: PropertyList]
        /// Entries that take the place of missing ones.
        let supplied: [(name: String, node: PropertyList)]
        var codingPath: [any CodingKey] { decoder.codingPath }
        var allKeys: [Key] { entries.keys.compactMap(Key.init(stringValue:)) }

        func contains(_ key: Key) -> Bool { entries[key.stringValue] != nil }

        private func node(_ key: some CodingKey) throws -> PropertyList {
            guard let node = entries[key.stringValue] else { throw decoder.absent(key) }
            return node
        }

        private func nested(_ key: some CodingKey) throws -> TreeDecoder {
            try TreeDecoder(parent: decoder, node: node(key), key: key)
        }

        func decodeNil(forKey key: Key) throws -> Bool { try node(key).isNilMarker }
        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
            guard let node = entries[key.stringValue], !node.isNilMarker else { return nil }
            if type is any AnyOptional.Type { return try decoder.decode(Value?.self, from: node, key: key) }
            return try decoder.decode(type, from: node, key: key)
        }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            let name = key.stringValue
            // There are few, so that a search is faster than a dictionary.
            guard let node = entries[name] ?? supplied.first(where: { $0.name == name })?.node else {
                throw decoder.absent(key)
            }
            return try decoder.decode(type, from: node, key: key)
        }
        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { try nested(key).container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try nested(key).unkeyedContainer()
        }
        func superDecoder() throws -> any Decoder { try nested(SuperKey()) }
        func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
    }

    private struct UnkeyedContainer: UnkeyedDecodingContainer {
        let decoder: TreeDecoder
        let elements: [PropertyList]
        private(set) var currentIndex = 0

        init(decoder: TreeDecoder, elements: [PropertyList]) { (self.decoder, self.elements) = (decoder, elements) }

        var codingPath: [any CodingKey] { decoder.codingPath }
        var count: Int? { elements.count }
        var isAtEnd: Bool { currentIndex == elements.count }

        private func node(_ type: Any.Type) throws -> PropertyList {
            guard !isAtEnd else {
                throw DecodingError.valueNotFound(
                    type, decoder.context("the array ends here", at: IndexKey(currentIndex)))
            }
            return elements[currentIndex]
        }

        /// Returns a container for the next element and moves past the element.
        private mutating func next<Container>(
            _ type: Any.Type, _ open: (TreeDecoder) throws -> Container
        ) throws -> Container {
            let next = try open(TreeDecoder(parent: decoder, node: node(type), key: IndexKey(currentIndex)))
            currentIndex += 1
            return next
        }

        mutating func decodeNil() throws -> Bool {
            guard try node(Any.self).isNilMarker else { return false }
            currentIndex += 1
            return true
        }
        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let value = try decoder.decode(type, from: node(type), key: IndexKey(currentIndex))
            currentIndex += 1
            return value
        }
        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> { try next([String: Any].self) { try $0.container(keyedBy: type) } }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try next([Any].self) { try $0.unkeyedContainer() }
        }
        mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
    }

    private struct SingleValueContainer: SingleValueDecodingContainer {
        let decoder: TreeDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }

        func decodeNil() -> Bool { decoder.node.isNilMarker }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decodeSingle(type) }
    }
}
