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
        var rules = DecodingRules(isWholeSetting: false, userInfo: userInfo)
        do { return try StoredValueDecoder.decode(type, from: .tree(self), rules) } catch {
            rules.leniency = .all
            return try StoredValueDecoder.decode(type, from: .tree(self), rules)
        }
    }
}

/// How a stored value is read.
struct DecodingRules {
    /// Which parts are read from forms other than those that their types write.
    ///
    /// A type that tries several types in turn must not find the wrong one first, such as a `Bool`
    /// in the integer 1. A value is therefore read leniently only if reading it strictly has
    /// failed.
    enum Leniency {
        case none
        case parts(Set<[String]>)
        case all
    }
    var leniency = Leniency.none
    /// Whether strings are read as numbers and Booleans, because launch arguments are always
    /// strings.
    var readsArguments = false
    /// Whether Foundation's coders wrote the tree. Types with a native form are then read from
    /// their `Codable` form too, and bytes from text in JSON.
    var isForeign = false
    /// The parts of such a tree that were taken from the default, in their native form.
    var defaultPaths: Set<[String]> = []
    /// Whether an optional at the root is a whole setting, so that the node is the optional's
    /// content.
    var isWholeSetting = true
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The entries that the decoder supplies if the whole value lacks them; `nil` for none.
    var supplied: SuppliedEntries?
}

/// Decodes a value from one node of a tree, or from the stored bytes of an array or a dictionary.
final class StoredValueDecoder: Decoder {
    enum Node {
        case value(PropertyList)
        /// The offset of an array or a dictionary in the stored bytes.
        case bytes(at: Int)
    }

    /// The state that all decoders of one value share.
    final class Root {
        let rules: DecodingRules
        /// Records the entries that are not read; `nil` to record nothing.
        let log: DecodingLog?
        init(_ rules: DecodingRules, _ log: DecodingLog?) { (self.rules, self.log) = (rules, log) }
    }

    let root: Root
    /// The stored value; empty if it is a tree.
    let bytes: [UInt8]
    let node: Node
    /// The entries of the node, once a keyed container has been created.
    var entries = Entries.bytes(count: 0, first: 0)
    /// The value in the bytes that was found last, and the number of entries from there on. The
    /// next search begins after it, because types usually read their properties in the order in
    /// which they are stored.
    var cursor = (left: 0, position: 0)
    /// Whether the node is the content of a whole setting of optional type.
    lazy var isOptionalRoot =
        parent == nil && root.rules.isWholeSetting && valueType is any AnyOptional.Type
    /// The type that decodes itself here; `nil` in a nested container.
    let valueType: Any.Type?
    let parent: StoredValueDecoder?
    private let key: (any CodingKey)?
    /// The number of decoders down to this one.
    private let depth: Int
    /// The number of dictionaries and arrays around the node.
    private let outerLevels: Int
    /// Whether the node is the whole value.
    var isWhole: Bool { outerLevels == 0 }

    static func decode<Value: Decodable>(
        _ type: Value.Type, from stored: StoredValue, _ rules: DecodingRules, _ log: DecodingLog? = nil
    ) throws -> Value {
        let decoder = StoredValueDecoder(root: Root(rules, log), stored, valueType: type)
        let node = decoder.node
        return try decoder.value(type, from: node, key: nil, isNil: node.isNilMarker, elseFrom: decoder)
    }

    private init(root: Root, _ stored: StoredValue, valueType: Any.Type) {
        self.valueType = valueType
        self.root = root
        switch stored {
        case .tree(let tree): (bytes, node) = ([], .value(tree))
        case .bytes(let stored) where stored.count <= ByteReader.searchableLength:
            (bytes, node) = (stored, stored.node(at: 0))
        case .bytes: (bytes, node) = ([], .value(stored.tree))
        }
        (parent, key, depth, outerLevels) = (nil, nil, 1, 0)
    }

    init(
        parent: StoredValueDecoder, node: Node, key: (any CodingKey)?, valueType: Any.Type? = nil,
        isSingle: Bool = false
    ) throws {
        (root, bytes, self.node) = (parent.root, parent.bytes, node)
        (self.parent, self.key, self.valueType) = (parent, key, valueType)
        depth = parent.depth + 1
        outerLevels = parent.outerLevels + (isSingle ? 0 : 1)
        guard depth <= PropertyList.recursionLimit else { throw parent.corrupted(PropertyList.tooRecursive, at: key) }
    }

    var userInfo: [CodingUserInfoKey: Any] { root.rules.userInfo }

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
        root.log?.noteUnknown(Set(names.filter { Key(stringValue: $0) == nil }), at: codingPath)
        return KeyedDecodingContainer(KeyedContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let container = UnkeyedContainer(decoder: self) else { throw mismatch([Any].self, "an array", node) }
        try checkLevel()
        return container
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValueContainer(decoder: self) }

    private func checkLevel() throws {
        guard outerLevels < PropertyList.depthLimit else { throw corrupted(PropertyList.tooDeep, at: nil) }
    }
}

// Errors.
extension StoredValueDecoder {
    func context(_ reason: String, at key: (any CodingKey)?) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: reason,
            underlyingError: DefaultsError(.unreadable, reason: reason))
    }

    func corrupted(_ reason: String, at key: (any CodingKey)?) -> DecodingError {
        .dataCorrupted(context(reason, at: key))
    }

    func absent(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(key, context("“\(key.nameInErrors)” is missing", at: nil))
    }

    private func mismatch(
        _ type: Any.Type, _ expected: String, _ node: Node, at key: (any CodingKey)? = nil, isNil: Bool? = nil
    ) -> DecodingError {
        if isNil ?? node.isNilMarker {
            return .valueNotFound(type, context("\(expected) is expected, nil is stored", at: key))
        }
        return .typeMismatch(type, context("\(expected) is expected, \(tree(of: node).kindName) is stored", at: key))
    }
}

// Values.
extension StoredValueDecoder {
    /// Decodes an entry or element: the counterpart of the encoder's `appendOther(_:key:)`.
    @inline(__always)
    func decode<Value: Decodable>(_ type: Value.Type, from node: Node, key: some CodingKey) throws -> Value {
        if node.isNilMarker { try checkIsNotNil(type, node, at: key) }
        return try value(
            type, from: node.unescapedFromNil, key: key, isNil: node.isNilMarker,
            elseFrom: StoredValueDecoder(parent: self, node: node, key: key, valueType: type))
    }

    /// Decodes a single value: the counterpart of the encoder's `encodeSingle(_:)`.
    func decodeSingle<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var node = node
        if !isOptionalRoot {
            if node.isNilMarker { try checkIsNotNil(type, node, at: nil) }
            if case .value(.string) = node,
                Value.self == String.self || NativeTypes[Value.self] != nil || valueType is any AnyOptional.Type
            {
                node = node.unescapedFromNil
            }
        }
        return try value(
            type, from: node, key: nil, isNil: !isOptionalRoot && self.node.isNilMarker,
            elseFrom: StoredValueDecoder(parent: self, node: node, key: nil, valueType: type, isSingle: true))
    }

    /// Decodes a value: natively if its type has a native form, by its own `init(from:)` otherwise.
    ///
    /// - Parameters:
    ///   - key: The key of the value, which is only created if it is needed.
    ///   - isNil: Whether nil is stored there. The node does not show this, because its escape is
    ///     removed.
    ///   - decoder: The decoder for a type without a native form.
    @inline(__always)
    private func value<Value: Decodable>(
        _ type: Value.Type, from node: Node, key: @autoclosure () -> (any CodingKey)?,
        isNil: @autoclosure () -> Bool, elseFrom decoder: @autoclosure () throws -> StoredValueDecoder
    ) throws -> Value {
        // As in `nativeForm(of:)`, compares the most common types first.
        if case .value(let node) = node {
            switch node {
            case .string(let value) where Value.self == String.self: return same(value, as: Value.self)
            case .bool(let value) where Value.self == Bool.self: return same(value, as: Value.self)
            case .double(let value) where Value.self == Double.self: return same(value, as: Value.self)
            case .integer(let value) where Value.self == Int.self:
                if let value = Int(exactly: value) { return same(value, as: Value.self) }
            default: break
            }
        }
        guard let native = NativeTypes[Value.self] else { return try nested(type, from: decoder()) }
        // Safe: `native` is `Value`.
        if let value = converted(native, from: tree(of: node), key: key()) { return value as! Value }
        let isNumber = type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type
        // The `Codable` form of a type such as `Date`. Those of the others are the types
        // themselves.
        if root.rules.isForeign, !isNumber, type != Bool.self, type != String.self {
            return try nested(type, from: decoder())
        }
        if isNumber, case .value(let stored) = node, stored.kindName == PropertyList.integer(0).kindName {
            throw corrupted("a number is stored that does not fit \(type)", at: key())
        }
        throw mismatch(type, "\(type)", node, at: key(), isNil: isNil())
    }

    private func nested<Value: Decodable>(_ type: Value.Type, from decoder: StoredValueDecoder) throws -> Value {
        do { return try Value(from: decoder) } catch {
            root.log?.noteFailure(of: type, at: decoder.codingPath, error)
            throw error
        }
    }

    /// Returns the value of a native form; `nil` if the type is not read from it here.
    private func converted(_ type: any NativeValue.Type, from tree: PropertyList, key: (any CodingKey)?) -> Any? {
        // In JSON, a string is never a number.
        if root.rules.isForeign, type == Decimal.self, case .string = tree, !isInside(root.rules.defaultPaths, key) {
            return nil
        }
        let isOwn = root.rules.isForeign ? tree.isForeignForm(of: type) : tree.isOwnForm(of: type)
        if isOwn || !isStrict(at: key), let value = type.init(tree) {
            if case .data = tree { root.log?.noteData() }
            return value
        }
        if root.rules.isForeign { return type.init(foreign: tree) }
        if root.rules.readsArguments, case .string(let text) = tree { return type.init(argument: text) }
        return nil
    }

    /// Throws if nil is stored and the type would read it as the string `$null`.
    private func checkIsNotNil(_ type: (some Decodable).Type, _ node: Node, at key: (any CodingKey)?) throws {
        if root.rules.isForeign || isStrict(at: key), NativeTypes[type] != nil {
            throw mismatch(type, "\(type)", node, at: key)
        }
    }

    /// Returns whether a value is read from the form of its type only.
    private func isStrict(at key: (any CodingKey)?) -> Bool {
        switch root.rules.leniency {
        case .none: return true
        case .all: return false
        case .parts(let parts): return !isInside(parts, key)
        }
    }

    private func isInside(_ parts: Set<[String]>, _ key: (any CodingKey)?) -> Bool {
        guard !parts.isEmpty else { return false }
        let path = (codingPath + (key.map { [$0] } ?? [])).map(\.stringValue)
        return (0...path.count).contains { parts.contains(Array(path[..<$0])) }
    }
}

extension StoredValueDecoder.Node {
    var isNilMarker: Bool { if case .value(let value) = self { value.isNilMarker } else { false } }

    fileprivate var unescapedFromNil: Self {
        if case .value(let value) = self { .value(value.unescapedFromNil) } else { self }
    }
}
