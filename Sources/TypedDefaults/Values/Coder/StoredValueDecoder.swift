import SettingsFile

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
        do {
            return try StoredValueDecoder.Root(userInfo: userInfo, isOptional: false)
                .decode(type, from: .tree(self))
        } catch {
            let lenient = StoredValueDecoder.Root(userInfo: userInfo, isOptional: false, isStrict: false)
            return try lenient.decode(type, from: .tree(self))
        }
    }
}

/// Decodes a value from one node of a tree, or from the stored bytes of an array or a dictionary.
final class StoredValueDecoder: Decoder {
    enum Node {
        case value(PropertyList)
        /// The offset of an array or a dictionary in the stored bytes.
        case bytes(at: Int)
    }

    /// The state that all decoders of one tree share.
    final class Root {
        let userInfo: [CodingUserInfoKey: any Sendable]
        /// Whether strings are read as numbers and Booleans, because launch arguments are always
        /// strings.
        let readsArguments: Bool
        /// Whether an optional at the root is a whole setting, so that the node is the optional's
        /// content.
        let isOptional: Bool
        /// Whether the whole value was decoded as `Data`, so that its bytes are not JSON or a
        /// property list.
        fileprivate(set) var isData = false
        /// Whether each type is read from its own form only.
        ///
        /// A type that tries several types in turn must not find the wrong one first, such as a
        /// `Bool` in the integer 1. A whole value is therefore read leniently only if reading it
        /// strictly has failed.
        let isStrict: Bool
        /// The parts that are read leniently all the same.
        fileprivate let lenientPaths: Set<[String]>
        /// Collects the places that values are made from, unless it is `nil`.
        fileprivate let reads: ReadPlaces?
        /// Collects the entries that no type has a key for, unless it is `nil`.
        fileprivate let unknown: UnknownEntries?
        /// Collects the types that fail to decode, unless it is `nil`.
        fileprivate let failures: DecodingFailures?
        /// Whether Foundation's coders wrote the tree. Types with a native form are then read from
        /// their `Codable` form too, and bytes from the text of JSON.
        fileprivate let readsFoundation: Bool
        @exclusivity(unchecked)
        fileprivate var stack = StackWatch()

        init(
            userInfo: [CodingUserInfoKey: any Sendable] = [:], readsArguments: Bool = false, isOptional: Bool = true,
            isStrict: Bool = true, lenientPaths: Set<[String]> = [], reads: ReadPlaces? = nil,
            unknown: UnknownEntries? = nil,
            failures: DecodingFailures? = nil, readsFoundation: Bool = false
        ) {
            self.reads = reads
            self.unknown = unknown
            self.failures = failures
            self.readsFoundation = readsFoundation
            self.isStrict = isStrict
            self.lenientPaths = lenientPaths
            self.userInfo = userInfo
            self.readsArguments = readsArguments
            self.isOptional = isOptional
        }

        func decode<Value: Decodable>(_ type: Value.Type, from stored: StoredValue) throws -> Value {
            let decoder = StoredValueDecoder(root: self, stored, valueType: type)
            let node = decoder.node
            return try decoder.value(type, from: node, key: nil, isNil: node.isNilMarker, elseFrom: decoder)
        }
    }

    fileprivate let root: Root
    /// The stored value; empty if it is a tree.
    let bytes: [UInt8]
    let node: Node
    /// The entries of the node, once a keyed container was made.
    @exclusivity(unchecked)
    var entries = Entries.bytes(count: 0, first: 0)
    /// The value in the bytes that was found last, and the number of entries from there on. The
    /// next search begins behind it, because types usually read their properties in the order in
    /// which they are stored.
    @exclusivity(unchecked)
    var cursor = (left: 0, position: 0)
    /// Whether the node is the content of a whole setting of optional type.
    private lazy var isOptionalRoot = parent == nil && root.isOptional && valueType is any AnyOptional.Type
    /// The type that decodes itself here; `nil` in a nested container.
    private let valueType: Any.Type?
    /// Whether a read has failed here. If the type is decoded anyway, it tries several types.
    @exclusivity(unchecked)
    private var hasFailed = false
    private let parent: StoredValueDecoder?
    private let key: (any CodingKey)?
    /// The number of decoders down to this one.
    private let depth: Int
    /// The number of dictionaries and arrays around the node.
    private let outerLevels: Int

    private init(root: Root, _ stored: StoredValue, valueType: Any.Type) {
        self.valueType = valueType
        self.root = root
        switch stored {
        case .tree(let tree): (bytes, node) = ([], .value(tree))
        case .bytes(let stored) where stored.count <= ByteReader.searchableLength:
            (bytes, node) = (stored, stored.node(at: 0))
        case .bytes: (bytes, node) = ([], .value(stored.tree))
        }
        parent = nil
        key = nil
        depth = 1
        outerLevels = 0
    }

    fileprivate init(
        parent: StoredValueDecoder, node: Node, key: (any CodingKey)?, valueType: Any.Type? = nil,
        isSingle: Bool = false
    ) throws {
        self.valueType = valueType
        root = parent.root
        bytes = parent.bytes
        self.node = node
        self.parent = parent
        self.key = key
        depth = parent.depth + 1
        outerLevels = parent.outerLevels + (isSingle ? 0 : 1)
        if root.stack.isEndNear() { throw parent.corrupted(PropertyList.tooDeepForStack, at: key) }
        guard depth <= PropertyList.recursionLimit else { throw parent.corrupted(PropertyList.tooRecursive, at: key) }
    }

    var userInfo: [CodingUserInfoKey: Any] { root.userInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var decoder: StoredValueDecoder? = self
        while let current = decoder {
            if let key = current.key { path.append(key) }
            decoder = current.parent
        }
        return path.reversed()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard openEntries() else { throw mismatch([String: Any].self, "a dictionary", node) }
        try checkLevel()
        if let unknown = root.unknown {
            unknown.note(Set(names.filter { Key(stringValue: $0) == nil }), at: codingPath)
        }
        return KeyedDecodingContainer(KeyedContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let container = UnkeyedContainer(decoder: self) else { throw mismatch([Any].self, "an array", node) }
        try checkLevel()
        return container
    }

    private func checkLevel() throws {
        guard outerLevels < PropertyList.depthLimit else { throw corrupted(PropertyList.tooDeep, at: nil) }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValueContainer(decoder: self) }

    private func context(_ reason: String, at key: (any CodingKey)?) -> DecodingError.Context {
        noteFailure()
        return DecodingError.Context(
            codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: reason,
            underlyingError: DefaultsError(.unreadable, reason: reason))
    }

    /// Notes that a read has failed in the type that decodes itself here or around this container.
    private func noteFailure() {
        var decoder = self
        while decoder.valueType == nil, let parent = decoder.parent { decoder = parent }
        decoder.hasFailed = true
    }

    fileprivate func corrupted(_ reason: String, at key: (any CodingKey)?) -> DecodingError {
        .dataCorrupted(context(reason, at: key))
    }

    private func mismatch(
        _ type: Any.Type, _ expected: String, _ node: Node, at key: (any CodingKey)? = nil,
        isNil: Bool? = nil
    ) -> DecodingError {
        if isNil ?? node.isNilMarker {
            return .valueNotFound(type, context("\(expected) is expected, nil is stored", at: key))
        }
        return .typeMismatch(type, context("\(expected) is expected, \(tree(of: node).kindName) is stored", at: key))
    }

    fileprivate func absent(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(key, context("“\(key.nameInErrors)” is missing in the stored value", at: nil))
    }

    /// Decodes a value: natively if its type has a native form, by its own `init(from:)` otherwise.
    ///
    /// - Parameters:
    ///   - key: The key of the value, which is only created if it is needed.
    ///   - isNil: Whether nil is stored there. The node does not show this, because its escape is
    ///     removed.
    ///   - decoder: The decoder for a type without a native form.
    @inline(__always)
    fileprivate func value<Value: Decodable>(
        _ type: Value.Type, from node: Node, key: @autoclosure () -> (any CodingKey)?,
        isNil: @autoclosure () -> Bool, elseFrom decoder: @autoclosure () throws -> StoredValueDecoder
    ) throws -> Value {
        // As in `nativeForm(of:)`, compares the most common types first. Safe: each bit cast is
        // from the requested type.
        switch node {
        case .value(.string(let value)) where Value.self == String.self: return unsafeBitCast(value, to: Value.self)
        case .value(.bool(let value)) where Value.self == Bool.self: return unsafeBitCast(value, to: Value.self)
        case .value(.double(let value)) where Value.self == Double.self: return unsafeBitCast(value, to: Value.self)
        case .value(.integer(let value)) where Value.self == Int.self:
            if let value = Int(exactly: value) { return unsafeBitCast(value, to: Value.self) }
        default: break
        }
        guard let type = NativeTypes[Value.self] else {
            return try nested(type, from: decoder())
        }
        if root.readsFoundation {
            let tree = tree(of: node)
            if tree.isFoundationForm(of: type) || !isStrict(at: key()),
                let value = type.init(tree) ?? type.init(foundation: tree)
            {
                return value as! Value  // Safe: `type` is `Value`.
            }
            // The `Codable` form of these types is the type itself.
            if type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type || type == Bool.self
                || type == String.self
            {
                throw mismatch(type, "\(type)", node, at: key(), isNil: isNil())
            }
            return try nested(Value.self, from: decoder())
        }
        // Safe: `type` is `Value`.
        return try converted(type, from: node, key: key(), isNil: isNil()) as! Value
    }

    private func nested<Value: Decodable>(_ type: Value.Type, from decoder: StoredValueDecoder) throws -> Value {
        do {
            let value = try Value(from: decoder)
            if decoder.hasFailed { CheckedTypes.noteAmbiguity(of: type) }
            return value
        } catch {
            if decoder !== self { noteFailure() }
            root.failures?.append(decoder.codingPath, type, error)
            throw error
        }
    }

    private func converted(
        _ type: any NativeValue.Type, from node: Node, key: (any CodingKey)?, isNil: Bool
    ) throws -> Any {
        let tree = tree(of: node)
        if tree.isOwnForm(of: type) || !isStrict(at: key), let value = type.init(tree) {
            // `isData` is only used if the root is data.
            if case .data = tree { root.isData = true }
            return value
        }
        if root.readsArguments, case .string(let argument) = tree, let value = type.init(argument: argument) {
            return value
        }
        if case .integer = tree, type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type {
            throw corrupted("a number is stored that does not fit \(type)", at: key)
        }
        throw mismatch(type, "\(type)", node, at: key, isNil: isNil)
    }

    /// Decodes an entry or element: the counterpart of the encoder's `node(for:key:)`.
    @inline(__always)
    fileprivate func decode<Value: Decodable>(
        _ type: Value.Type, from node: Node, key: some CodingKey
    ) throws -> Value {
        if node.isNilMarker { try checkIsNotNil(type, node, at: key) }
        let value = try value(
            type, from: node.unescapedFromNil, key: key, isNil: node.isNilMarker,
            elseFrom: StoredValueDecoder(parent: self, node: node, key: key, valueType: type))
        root.reads?.insert(codingPath + [key])
        return value
    }

    /// Decodes a single value: the counterpart of the encoder's `singleNode(for:)`.
    fileprivate func decodeSingle<Value: Decodable>(_ type: Value.Type) throws -> Value {
        func decode(_ node: Node) throws -> Value {
            try value(
                type, from: node, key: nil, isNil: !isOptionalRoot && self.node.isNilMarker,
                elseFrom: StoredValueDecoder(
                    parent: self, node: node, key: nil, valueType: type, isSingle: true))
        }
        if isOptionalRoot { return try decode(node) }
        if node.isNilMarker { try checkIsNotNil(type, node, at: nil) }
        guard case .value(.string) = node,
            Value.self == String.self || NativeTypes[Value.self] != nil || valueType is any AnyOptional.Type
        else { return try decode(node) }
        return try decode(node.unescapedFromNil)
    }

    /// Throws if nil is stored and the type would read it as the string `$null`.
    private func checkIsNotNil(_ type: (some Decodable).Type, _ node: Node, at key: (any CodingKey)?) throws {
        if root.readsFoundation || isStrict(at: key), NativeTypes[type] != nil {
            throw mismatch(type, "\(type)", node, at: key)
        }
    }

    /// Returns whether a value is read from the form of its type only.
    private func isStrict(at key: (any CodingKey)?) -> Bool {
        guard root.isStrict, !root.lenientPaths.isEmpty else { return root.isStrict }
        let path = (codingPath + (key.map { [$0] } ?? [])).map(\.stringValue)
        return !(0...path.count).contains { root.lenientPaths.contains(Array(path[..<$0])) }
    }
}

// One generic `decode` also meets the requirements for the standard types.
extension StoredValueDecoder {
    private struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: StoredValueDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }
        var allKeys: [Key] { decoder.names.compactMap(Key.init(stringValue:)) }

        func contains(_ key: Key) -> Bool {
            // What follows is the search for the value.
            let cursor = decoder.cursor
            defer { decoder.cursor = cursor }
            return decoder.find(key.stringValue) != nil
        }

        func node(_ key: some CodingKey) throws -> Node {
            guard let node = decoder.find(key.stringValue) else { throw decoder.absent(key) }
            return node
        }

        func nested(_ key: some CodingKey) throws -> StoredValueDecoder {
            try StoredValueDecoder(parent: decoder, node: node(key), key: key)
        }

        func decodeNil(forKey key: Key) throws -> Bool { try node(key).isNilMarker }
        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
            guard let node = decoder.find(key.stringValue), !node.isNilMarker else { return nil }
            if type is any AnyOptional.Type { return try decoder.decode(Value?.self, from: node, key: key) }
            return try decoder.decode(type, from: node, key: key)
        }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try entry(key) }

        @inline(__always)
        private func entry<Value: Decodable>(_ key: Key) throws -> Value {
            var offset: Int?
            if decoder.root.reads == nil, case .bytes(let count, let first) = decoder.entries {
                offset = decoder.offset(of: key.stringValue, count, first)
            }
            // Safe: each bit cast is from the type that its line has compared.
            if Value.self == Bool.self, let offset, let value = decoder.plainBool(at: offset) {
                return unsafeBitCast(value, to: Value.self)
            }
            if Value.self == String.self, let offset, let value = decoder.plainString(at: offset) {
                return unsafeBitCast(value, to: Value.self)
            }
            if Value.self == Int.self, let offset, let value = decoder.plainInt(at: offset) {
                return unsafeBitCast(value, to: Value.self)
            }
            if Value.self == Double.self, let offset, let word = decoder.word(at: offset, .double) {
                return unsafeBitCast(Double(bitPattern: word), to: Value.self)
            }
            return try decoder.decode(Value.self, from: offset.map(decoder.bytes.node) ?? node(key), key: key)
        }

        // The protocol's own implementation for these two types throws.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func decode(_: Int128.Type, forKey key: Key) throws -> Int128 { try entry(key) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func decode(_: UInt128.Type, forKey key: Key) throws -> UInt128 { try entry(key) }

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
        let decoder: StoredValueDecoder
        /// `nil` if the elements are read from the bytes.
        let elements: [PropertyList]?
        let count: Int?
        /// Where the current element begins in the bytes.
        private var position = 0
        private(set) var currentIndex = 0
        var codingPath: [any CodingKey] { decoder.codingPath }
        var isAtEnd: Bool { currentIndex == count }

        /// Returns `nil` if the decoder does not read an array.
        init?(decoder: StoredValueDecoder) {
            self.decoder = decoder
            switch decoder.node {
            case .value(.array(let elements)): (self.elements, count) = (elements, elements.count)
            case .bytes(let offset) where decoder.bytes[offset] == ValueTag.array.rawValue:
                elements = nil
                (count, position) = decoder.bytes.header(at: offset)
            default: return nil
            }
        }

        func node(_ type: Any.Type) throws -> Node {
            guard !isAtEnd else {
                throw DecodingError.valueNotFound(
                    type, decoder.context("the array ends here", at: IndexKey(currentIndex)))
            }
            return elements.map { .value($0[currentIndex]) } ?? decoder.bytes.node(at: position)
        }

        /// Returns a container for the next element and moves past the element.
        mutating func next<Container>(
            _ type: Any.Type, _ open: (StoredValueDecoder) throws -> Container
        ) throws -> Container {
            let next = try open(
                StoredValueDecoder(parent: decoder, node: node(type), key: IndexKey(currentIndex)))
            advance()
            return next
        }

        private mutating func advance() {
            currentIndex += 1
            guard elements == nil else { return }
            position = decoder.bytes.read(at: position) { reader in
                _ = reader.skipValue()
                return reader.position
            }
        }

        mutating func decodeNil() throws -> Bool {
            guard try node(Any.self).isNilMarker else { return false }
            advance()
            return true
        }

        @inline(__always)
        private mutating func element<Value: Decodable>() throws -> Value {
            let value = try decoder.decode(Value.self, from: node(Value.self), key: IndexKey(currentIndex))
            advance()
            return value
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try element() }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        mutating func decode(_: Int128.Type) throws -> Int128 { try element() }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        mutating func decode(_: UInt128.Type) throws -> UInt128 { try element() }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> { try next([String: Any].self) { try $0.container(keyedBy: type) } }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try next([Any].self) { try $0.unkeyedContainer() }
        }
        mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
    }

    private struct SingleValueContainer: SingleValueDecodingContainer {
        let decoder: StoredValueDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }

        func decodeNil() -> Bool { !decoder.isOptionalRoot && decoder.node.isNilMarker }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decodeSingle(type) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func decode(_ type: Int128.Type) throws -> Int128 { try decoder.decodeSingle(type) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.decodeSingle(type) }
    }
}

extension StoredValueDecoder.Node {
    fileprivate var isNilMarker: Bool { if case .value(let value) = self { value.isNilMarker } else { false } }

    fileprivate var unescapedFromNil: Self {
        if case .value(let value) = self { .value(value.unescapedFromNil) } else { self }
    }
}

extension PropertyList {
    /// Returns whether Foundation's decoders read the type from this form.
    fileprivate func isFoundationForm(of type: any NativeValue.Type) -> Bool {
        switch self {
        case .integer: type != Bool.self
        case .string: type != Decimal.self
        default: true
        }
    }

    /// Returns whether values of the type are written in this form, and not only read from it.
    fileprivate func isOwnForm(of type: any NativeValue.Type) -> Bool {
        switch self {
        case .integer: (type as? any FixedWidthInteger.Type).map { $0.bitWidth <= 64 } ?? false
        // A double that does not fit a float exactly was written as a `Double`.
        case .double(let value): type == Double.self || type == Float.self && value.isFloat
        default: true
        }
    }
}

extension Double {
    /// Whether a float holds exactly this value.
    fileprivate var isFloat: Bool {
        // The payload of a float's NaN is in the upper bits.
        isNaN ? bitPattern & (1 << 29 - 1) == 0 : Double(Float(self)) == self
    }
}
