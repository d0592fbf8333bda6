#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList {
    /// Encodes a value; `Data` and `Date` stay what they are, `URL` and `Decimal` become strings.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - userInfo: What the value's `encode(to:)` finds in its encoder's `userInfo`.
    /// - Throws: An `EncodingError`, or what the value's own `encode(to:)` throws.
    public init(encoding value: some Encodable, userInfo: [CodingUserInfoKey: any Sendable] = [:]) throws {
        // No root is optional here: there is no place to be absent from, so nil and the string `$null` must differ.
        self = try Self.encoding(value, userInfo: userInfo, isOptionalRoot: false) ?? .nilMarker
    }

    /// Encodes a value as a whole setting; nil for an optional that holds nothing.
    static func encoding<Value: Encodable>(
        _ value: Value, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> PropertyList? {
        try encoding(value, userInfo: userInfo, isOptionalRoot: Value.self is any AnyOptional.Type)
    }

    private static func encoding<Value: Encodable>(
        _ value: Value, userInfo: [CodingUserInfoKey: any Sendable], isOptionalRoot: Bool
    ) throws -> PropertyList? {
        if let native = try nativeForm(of: value) { return native }
        let encoder = PropertyListTreeEncoder(userInfo: userInfo, isOptionalRoot: isOptionalRoot)
        defer { encoder.close() }
        try value.encode(to: encoder)
        return try encoder.finish()?.ordered(as: type(of: value))
    }
}

/// Builds one node of the tree from what a value encodes into it, straight to `PropertyList`.
///
/// Containers write into their encoder; only what stays open, nested containers and super encoders, is kept aside and put in
/// place at the end.
final class PropertyListTreeEncoder: Encoder {
    private enum Shape { case empty, single, unkeyed, keyed }

    private let parent: PropertyListTreeEncoder?
    private let key: (any CodingKey)?
    private let depth: Int
    private let sharedUserInfo: [CodingUserInfoKey: any Sendable]
    /// An optional that is the whole setting has no wrapper of its own: nil is absence, and its string needs no escape.
    fileprivate let isOptionalRoot: Bool

    private var shape = Shape.empty
    // Not checked at each access whether another one is under way: during these no code of others runs.
    @exclusivity(unchecked)
    fileprivate var single: PropertyList?
    @exclusivity(unchecked)
    fileprivate var elements: [PropertyList] = []
    @exclusivity(unchecked)
    fileprivate var entries: [String: PropertyList] = [:]
    private var open: [(place: Place, encoder: PropertyListTreeEncoder)] = []
    private enum Place {
        case index(Int)
        case key(String)
    }
    /// What went wrong where the protocol has no `throws`.
    private var failure: (any Error)?

    init(userInfo: [CodingUserInfoKey: any Sendable], isOptionalRoot: Bool) {
        parent = nil
        key = nil
        depth = 1
        sharedUserInfo = userInfo
        self.isOptionalRoot = isOptionalRoot
    }

    private init(parent: PropertyListTreeEncoder, key: (any CodingKey)?) {
        self.parent = parent
        self.key = key
        depth = parent.depth + 1
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
        take(.keyed)
        // Room for a config of the usual size: growing step by step would hash its keys again at each step.
        if entries.isEmpty { entries = Dictionary(minimumCapacity: 6) }
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

    /// A superclass may ask again for the container that its subclass has; another one would lose what is written.
    private func take(_ wanted: Shape) {
        if shape == .empty {
            shape = wanted
        } else if shape != wanted, failure == nil {
            failure = invalid("asked for two different containers for one value")
        }
    }

    /// The node that was built; nil for an optional root that holds nothing.
    func finish() throws -> PropertyList? {
        for (place, encoder) in open {
            let node = try encoder.finish() ?? .nilMarker
            switch place {
            case .index(let index): elements[index] = node
            case .key(let key): entries[key] = node
            }
        }
        if let failure { throw failure }
        switch shape {
        case .empty: return .dictionary([:])
        case .single:
            guard let single else {
                guard isOptionalRoot else { throw invalid("encoded no value") }
                return nil
            }
            return single
        case .unkeyed: return .array(elements)
        case .keyed: return .dictionary(entries)
        }
    }

    /// Lets go of the encoders that stayed open, which hold this one.
    fileprivate func close() {
        for (_, encoder) in open { encoder.close() }
        open = []
    }

    fileprivate func invalid(_ reason: String, at key: (any CodingKey)? = nil) -> EncodingError {
        // The type in place of the value: an error holds no value.
        let path = codingPath + (key.map { [$0] } ?? [])
        return .invalidValue(
            PropertyList.self,
            .init(
                codingPath: path, debugDescription: reason,
                underlyingError: DefaultsError(.refused, reason: reason)))
    }

    /// The node of an entry or element where nothing can go wrong, so that no key is handed on to be named; nil elsewhere.
    @inline(__always)
    fileprivate func plainNode<Value: Encodable>(for value: Value) -> PropertyList? {
        depth <= PropertyList.depthLimit ? plainForm(of: value)?.escapedFromNil : nil
    }

    /// The node of an entry or element; the types that have a form of their own carry the escape, others carry it inside.
    fileprivate func node<Value: Encodable>(for value: Value, key: any CodingKey) throws -> PropertyList {
        try checkDepth(at: key)
        guard let native = try native(value, key: key) else { return try nested(value, key: key) }
        return native.escapedFromNil
    }

    /// The node without an escape of its own.
    fileprivate func bareNode<Value: Encodable>(for value: Value) throws -> PropertyList {
        try checkDepth(at: nil)
        return try native(value, key: nil) ?? nested(value, key: nil)
    }

    /// Throws if this encoder is one that was opened where the protocol has no `throws`.
    @inline(__always)
    private func checkDepth(at key: (any CodingKey)?) throws {
        guard depth <= PropertyList.depthLimit else {
            throw invalid("nested deeper than \(PropertyList.depthLimit) levels", at: key)
        }
    }

    @inline(__always)
    private func native<Value>(_ value: Value, key: (any CodingKey)?) throws -> PropertyList? {
        do { return try nativeForm(of: value) } catch { throw invalid(error.reason, at: key) }
    }

    private func nested(_ value: some Encodable, key: (any CodingKey)?) throws -> PropertyList {
        guard depth < PropertyList.depthLimit else {
            throw invalid("nested deeper than \(PropertyList.depthLimit) levels", at: key)
        }
        let encoder = PropertyListTreeEncoder(parent: self, key: key)
        defer { encoder.close() }
        try value.encode(to: encoder)
        return try encoder.finish()?.ordered(as: type(of: value)) ?? .nilMarker
    }

    /// An encoder for a part whose container stays open, put in place when this one finishes.
    private func opening(_ place: Place, key: any CodingKey) -> PropertyListTreeEncoder {
        if depth > PropertyList.depthLimit, let parent {
            // Beside this one and not in it: a chain of any length would be as deep to release.
            return PropertyListTreeEncoder(parent: parent, key: key)
        }
        let encoder = PropertyListTreeEncoder(parent: self, key: key)
        if encoder.depth > PropertyList.depthLimit {
            if failure == nil { failure = invalid("nested deeper than \(PropertyList.depthLimit) levels", at: key) }
        } else {
            open.append((place, encoder))
        }
        return encoder
    }

    fileprivate func openingEntry(_ key: any CodingKey) -> PropertyListTreeEncoder {
        entries[key.stringValue] = nil
        return opening(.key(key.stringValue), key: key)
    }

    fileprivate func openingElement() -> PropertyListTreeEncoder {
        elements.append(.nilMarker)
        return opening(.index(elements.count - 1), key: IndexKey(elements.count - 1))
    }
}

// One generic `encode` meets the protocols' requirements for all the single types as well.
extension PropertyListTreeEncoder {
    private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: PropertyListTreeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil(forKey key: Key) { encoder.entries[key.stringValue] = .nilMarker }
        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            encoder.entries[key.stringValue] = try encoder.plainNode(for: value) ?? encoder.node(for: value, key: key)
        }

        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            guard let value else { return }
            // Of an optional in an optional only the outer one is told by absence.
            if Value.self is any AnyOptional.Type {
                encoder.entries[key.stringValue] = try encoder.node(for: Optional(value), key: key)
            } else {
                try encode(value, forKey: key)
            }
        }

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
        func encode<Value: Encodable>(_ value: Value) throws {
            encoder.elements.append(try encoder.plainNode(for: value) ?? encoder.node(for: value, key: IndexKey(count)))
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            encoder.openingElement().container(keyedBy: type)
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.openingElement().unkeyedContainer() }
        func superEncoder() -> any Encoder { encoder.openingElement() }
    }

    private struct SingleValueContainer: SingleValueEncodingContainer {
        let encoder: PropertyListTreeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.single = encoder.isOptionalRoot ? nil : .nilMarker }
        func encode<Value: Encodable>(_ value: Value) throws {
            if encoder.isOptionalRoot {
                // The whole setting has no nil beside it.
                encoder.single = try encoder.bareNode(for: value)
            } else {
                // One more layer, as of `.some(nil)` around nil, is one more escape.
                encoder.single = try encoder.bareNode(for: value).escapedFromNil
            }
        }
    }
}

/// The place of an element in a coding path.
struct IndexKey: CodingKey {
    let index: Int
    init(_ index: Int) { self.index = index }
    init?(intValue: Int) { index = intValue }
    init?(stringValue: String) { return nil }
    var intValue: Int? { index }
    var stringValue: String { String(index) }
}

/// Where a class hierarchy puts its superclass.
struct SuperKey: CodingKey {
    init() {}
    init?(intValue: Int) { return nil }
    init?(stringValue: String) { return nil }
    var intValue: Int? { nil }
    var stringValue: String { "super" }
}
