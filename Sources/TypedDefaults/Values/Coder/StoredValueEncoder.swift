import SettingsFile

/// Encodes one value, as the bytes of its stored form.
///
/// The encoders of nested values write at the end of the same bytes. What cannot be written in
/// order is collected in a ``Tree``: containers that stay open while others are written, keys that
/// are written twice, and the marks of a ``RoundTripTrace``.
final class StoredValueEncoder: Encoder {
    enum Shape { case empty, single, unkeyed, keyed }
    enum Mode {
        case bytes
        /// A nested value is being written at the end of the bytes.
        case suspended
        case tree
        case finished
    }

    let parent: StoredValueEncoder?
    let key: (any CodingKey)?
    /// The number of encoders down to this one.
    let depth: Int
    /// The number of dictionaries and arrays around the value.
    let outerLevels: Int
    @exclusivity(unchecked)
    var stack: StackWatch
    private let sharedUserInfo: [CodingUserInfoKey: any Sendable]
    /// Whether the value is a whole setting of optional type. Then nil removes the key, and a
    /// string needs no escape.
    let isOptionalRoot: Bool
    /// The type that encodes itself here; `nil` in a nested container.
    let valueType: Any.Type?
    /// Not `nil` if the value is encoded only for a comparison.
    let trace: RoundTripTrace?
    /// Whether strings, numbers and Booleans are encoded in place, without a check or a trace.
    private let isPlain: Bool
    /// Whether the value has to be read back and compared.
    @exclusivity(unchecked)
    var needsCheck = false
    /// The form in which the type has encoded itself so far.
    @exclusivity(unchecked)
    var form = EncodedForm()
    /// The nested type that was last found to be checked, so that an array looks it up only once.
    @exclusivity(unchecked)
    private var lastChecked: (type: Any.Type, form: UInt64)?

    // Unchecked, because no code of a type runs during these accesses.
    @exclusivity(unchecked)
    var mode: Mode
    @exclusivity(unchecked)
    var shape = Shape.empty
    /// Writes the bytes. The encoders of nested values share it. It is valid until the root is
    /// closed.
    let writer: UnsafeMutablePointer<ByteWriter>
    /// Where the value begins in the bytes.
    let start: Int
    /// The number of entries, elements or single values in the bytes.
    @exclusivity(unchecked)
    var count = 0
    /// A bit for each key in the bytes, which similar keys share.
    @exclusivity(unchecked)
    private var keyBits: UInt64 = 0
    /// Whether two keys in the bytes may be the same text.
    @exclusivity(unchecked)
    private var mayRepeatKeys = false
    @exclusivity(unchecked)
    var tree: Tree?
    /// The first failure in a method that cannot throw.
    @exclusivity(unchecked)
    var failure: (any Error)?

    init(
        _ valueType: Any.Type, userInfo: [CodingUserInfoKey: any Sendable], isOptionalRoot: Bool,
        isTree: Bool, trace: RoundTripTrace?
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
        writer = .allocate(capacity: 1)
        writer.initialize(to: ByteWriter(capacity: 256))
        start = 0
        mode = trace == nil && !isTree ? .bytes : .tree
    }

    init(parent: StoredValueEncoder, key: consuming (any CodingKey)?, valueType: Any.Type?, isTree: Bool) {
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
        writer = parent.writer
        start = isTree ? 0 : writer.pointee.count
        mode = isTree ? .tree : .bytes
    }

    var userInfo: [CodingUserInfoKey: Any] { sharedUserInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var encoder: StoredValueEncoder? = self
        while let current = encoder {
            if let key = current.key { path.append(key) }
            encoder = current.parent
        }
        return path.reversed()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        take(.keyed, as: Key.self)
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
            if mode == .bytes { beginContainer() }
            // Space for a config of the usual size, because growing would hash its keys again at
            // each step.
            if mode == .tree, shape == .keyed { writableTree.entries = Dictionary(minimumCapacity: 6) }
        } else if shape != wanted {
            fail("asked for two different containers for one value")
        }
        if isTooDeep { fail(PropertyList.tooDeep) }
    }

    private func beginContainer() {
        switch shape {
        case .keyed: writer.pointee.append(byte: ValueTag.dictionary.rawValue)
        case .unkeyed: writer.pointee.append(byte: ValueTag.array.rawValue)
        case .single, .empty: return
        }
        // The count, which is inserted at the end.
        writer.pointee.append(byte: 0)
    }

    static let headerLength = 2

    func fail(_ reason: String, at key: (any CodingKey)? = nil) {
        if failure == nil { failure = invalid(reason, at: key) }
    }

    /// Whether the value is a dictionary or an array beyond the depth limit.
    @inline(__always)
    var isTooDeep: Bool { outerLevels >= PropertyList.depthLimit && shape != .single }

    /// The number of entries or elements so far.
    private var valueCount: Int {
        guard let tree else { return count }
        return shape == .keyed ? tree.entries.count : tree.elements.count
    }

    /// Notes that a value of the type is about to be written.
    @inline(__always)
    private func note(_ type: Any.Type, at place: @autoclosure () -> String) {
        form.addValue(type, before: { valueCount })
        if trace != nil { writableTree.add(ObjectIdentifier(type), at: place()) }
    }

    /// Notes that a value of the type is about to be written under the key.
    @inline(__always)
    private func note(_ type: Any.Type, under key: some CodingKey) {
        form.addValue(type, under: key, before: { valueCount })
        if trace != nil { writableTree.add(ObjectIdentifier(type), at: key.nameInErrors) }
    }

    func invalid(_ reason: String, at key: (any CodingKey)? = nil) -> EncodingError {
        // The type instead of the value, because an error must not contain a value.
        let path = codingPath + (key.map { [$0] } ?? [])
        return .invalidValue(
            PropertyList.self,
            .init(
                codingPath: path, debugDescription: reason,
                underlyingError: DefaultsError(.refused, reason: reason)))
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
}

// Entries, elements and single values.
extension StoredValueEncoder {
    @inline(__always)
    private func encode<Value: Encodable>(_ value: Value, forKey key: some CodingKey) throws {
        note(Value.self, under: key)
        guard mode == .bytes else { return put(try node(for: value, key: key), forKey: key) }
        let end = writer.pointee.count
        append(key: key)
        if !appendPlain(value) {
            do { try appendOther(value, key: key) } catch {
                // A type may catch the error and go on.
                writer.pointee.truncate(to: end)
                throw error
            }
        }
        count += 1
    }

    @inline(__always)
    private func append<Value: Encodable>(_ value: Value) throws {
        note(Value.self, at: "\(valueCount)")
        guard mode == .bytes else {
            let tree = writableTree
            return tree.elements.append(try node(for: value, key: IndexKey(tree.elements.count)))
        }
        if !appendPlain(value) {
            let end = writer.pointee.count
            do { try appendOther(value, key: IndexKey(count)) } catch {
                writer.pointee.truncate(to: end)
                throw error
            }
        }
        count += 1
    }

    /// Encodes the single value.
    ///
    /// A string is escaped. A value that encodes itself escapes its content and passes on its nil,
    /// as in JSON. Only an optional adds a layer, because its own nil must differ from a nil inside
    /// it.
    private func encodeSingle<Value: Encodable>(_ value: Value) throws {
        note(Value.self, at: "")
        // A second value replaces the first one.
        if count > 0 { becomeTree() }
        guard mode == .bytes else {
            writableTree.single = try singleNode(for: value)
            return
        }
        if isOptionalRoot || !appendPlain(value) {
            do { try appendOtherSingle(value) } catch {
                writer.pointee.truncate(to: start)
                throw error
            }
        }
        count = 1
    }

    private func appendOtherSingle<Value: Encodable>(_ value: Value) throws {
        let native = try nativeNode(of: value, key: nil)
        if let native {
            // A whole setting has no nil: its key is removed.
            return try append(isOptionalRoot ? native : native.escapedFromNil)
        }
        try appendNested(value, key: nil)
        guard !isOptionalRoot, writer.pointee.isString(at: start), valueType is any AnyOptional.Type else { return }
        let node = writer.pointee.value(from: start)
        writer.pointee.truncate(to: start)
        writer.pointee.append(node.escapedFromNil)
    }

    private func encodeNil(forKey key: some CodingKey) {
        form.addValue(Never.self, under: key, before: { valueCount })
        guard mode == .bytes else { return put(.nilMarker, forKey: key) }
        append(key: key)
        writer.pointee.append(.nilMarker)
        count += 1
    }

    private func encodeNil() {
        guard mode == .bytes else { return writableTree.elements.append(.nilMarker) }
        writer.pointee.append(.nilMarker)
        count += 1
    }

    private func encodeSingleNil() {
        note(Never.self, at: "")
        if count > 0 { becomeTree() }
        guard mode == .bytes else {
            writableTree.single = isOptionalRoot ? nil : .nilMarker
            return
        }
        guard !isOptionalRoot else { return }
        writer.pointee.append(.nilMarker)
        count = 1
    }

    private func append(key: some CodingKey) {
        var name = key.stringValue
        name.withUTF8 { append(key: UnsafeRawBufferPointer($0)) }
    }

    private func append(key name: UnsafeRawBufferPointer) {
        writer.pointee.append(counted: name)
        let (bits, isASCII) = name.keyBits
        // Two texts beyond ASCII can be the same in different Unicode forms.
        if !isASCII || (keyBits & bits == bits && (count > 16 || isRepeated(name))) { mayRepeatKeys = true }
        keyBits |= bits
    }

    /// Returns whether an entry before the last one has that key.
    private func isRepeated(_ key: UnsafeRawBufferPointer) -> Bool {
        writer.pointee.withBytes { bytes in
            ByteReader(bytes, at: start + Self.headerLength).hasKey(key, within: count)
        }
    }

    /// Appends a value whose encoding cannot fail. Returns false for other values.
    @inline(__always)
    private func appendPlain<Value>(_ value: Value) -> Bool {
        guard isPlain else { return false }
        // Safe: each bit cast is to the type that its line has compared.
        if Value.self == String.self {
            let string = unsafeBitCast(value, to: String.self)
            if string.utf8.first == UInt8(ascii: "$") { return false }
            writer.pointee.append(byte: ValueTag.string.rawValue)
            writer.pointee.append(string)
        } else if Value.self == Int.self {
            writer.pointee.append(byte: ValueTag.integer.rawValue)
            writer.pointee.append(word: UInt64(bitPattern: Int64(unsafeBitCast(value, to: Int.self))))
        } else if Value.self == Double.self {
            writer.pointee.append(byte: ValueTag.double.rawValue)
            writer.pointee.append(word: unsafeBitCast(value, to: Double.self).bitPattern)
        } else if Value.self == Bool.self {
            writer.pointee.append(byte: unsafeBitCast(value, to: Bool.self) ? 1 : 0)
        } else {
            return false
        }
        return true
    }

    /// Appends an entry or element. A value with a native form is escaped here, other values escape
    /// their content.
    private func appendOther<Value: Encodable>(_ value: Value, key: (any CodingKey)?) throws {
        // The method that returns a container cannot throw.
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        guard let native = try nativeNode(of: value, key: key) else { return try appendNested(value, key: key) }
        try append(native.escapedFromNil)
    }

    /// Appends an entry, an element or the single value.
    private func append(_ node: PropertyList) throws {
        let levels = outerLevels + (shape == .single ? 0 : 1)
        guard writer.pointee.append(node, depth: levels + 1) else { throw invalid(PropertyList.tooDeep) }
    }

    private func appendNested<Value: Encodable>(_ value: Value, key: (any CodingKey)?) throws {
        try checkRecursion(key)
        mode = .suspended
        defer { mode = .bytes }
        let encoder = StoredValueEncoder(parent: self, key: key, valueType: Value.self, isTree: false)
        defer { encoder.close() }
        try value.encode(to: encoder)
        if case .node(let node) = try encoder.finish(value) { try append(node) }
        noteCheck(of: encoder, isNil: writer.pointee.isNilMarker(at: encoder.start))
    }

    func checkRecursion(_ key: (any CodingKey)?) throws {
        guard depth < PropertyList.recursionLimit else { throw invalid(PropertyList.tooRecursive, at: key) }
        if isStackEndNear { throw invalid(PropertyList.tooDeepForStack, at: key) }
    }

    @inline(__always)
    func nativeNode<Value>(of value: Value, key: (any CodingKey)?) throws -> PropertyList? {
        do {
            guard let node = try nativeForm(of: value) else { return nil }
            return trace == nil ? node : RoundTripTrace.node(node, of: Value.self)
        } catch {
            throw invalid(error.reason, at: key)
        }
    }

    func noteCheck(of nested: StoredValueEncoder, isNil: Bool) {
        guard !needsCheck else { return }
        if let lastChecked, lastChecked.type == nested.valueType, lastChecked.form == nested.form.hash,
            !nested.needsCheck, !isNil
        {
            return
        }
        needsCheck = nested.needsCheck || !nested.isChecked(isNil: isNil)
        if !needsCheck, let type = nested.valueType { lastChecked = (type, nested.form.hash) }
    }

    /// Returns whether the type that has encoded itself is known to read this value as the same
    /// value.
    func isChecked(isNil: Bool) -> Bool {
        guard let valueType else { return true }
        // An optional of this type could read this nil as its own, as in JSON.
        if isNil { return valueType is any AnyOptional.Type }
        if let trace {
            if !(valueType is any AnyOptional.Type) {
                writableTree.places["\0container"] = form.firstContainer
                trace.note(
                    .init(
                        type: valueType, form: form.hash, places: writableTree.places,
                        path: codingPath.map(\.stringValue)))
            }
            return true
        }
        // The table comes first: an optional is never in it, and finding out whether the type is
        // one takes longer.
        return CheckedTypes.contains(valueType, form.hash) || valueType is any AnyOptional.Type
    }
}

// The end of a value.
extension StoredValueEncoder {
    enum Finished {
        /// The value is at the end of the bytes.
        case bytes
        case node(PropertyList)
        /// An optional root without a value.
        case none
    }

    func storedValue<Value>(of value: Value) throws -> StoredValue? {
        switch try finish(value) {
        case .bytes: .bytes(writer.pointee.withBytes { Array($0) })
        case .node(let node): .tree(node)
        case .none: nil
        }
    }

    func finish<Value>(_ value: Value) throws -> Finished {
        if mode == .bytes, let finished = try finishBytes(as: type(of: value)) { return finished }
        guard let node = try finishTree() else { return .none }
        guard case .array = node else { return .node(node) }
        return .node(node.ordered(as: type(of: value)))
    }

    /// Completes the bytes of the value. Returns `nil` if it has become a tree instead.
    private func finishBytes(as type: @autoclosure () -> Any.Type) throws -> Finished? {
        if let failure { throw failure }
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        switch shape {
        case .empty: writer.pointee.append(.dictionary([:]))
        case .single:
            if count == 0 {
                guard isOptionalRoot else { throw invalid("encoded no value") }
                mode = .finished
                return Finished.none
            }
        case .unkeyed, .keyed:
            if shape == .keyed ? mayRepeatKeys && repeatsKeys : count > 0 && type() is any UnorderedValue.Type {
                becomeTree()
                return nil
            }
            writer.pointee.insert(count: count, at: start + 1, replacing: 1)
        }
        mode = .finished
        return .bytes
    }

    private var repeatsKeys: Bool {
        writer.pointee.withBytes { bytes in
            var reader = ByteReader(bytes, at: start + Self.headerLength)
            var names: Set<String> = []
            for _ in 0..<count {
                guard let name = reader.string(), reader.skipValue(), names.insert(name).inserted else { return true }
            }
            return false
        }
    }
}

// One generic `encode` also meets the requirements for the standard types.
extension StoredValueEncoder {
    private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: StoredValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil(forKey key: Key) {
            encoder.encodeNil(forKey: key)
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
        let encoder: StoredValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { encoder.valueCount }

        func encodeNil() { encoder.encodeNil() }
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
        let encoder: StoredValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.encodeSingleNil() }
        func encode<Value: Encodable>(_ value: Value) throws { try encoder.encodeSingle(value) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func encode(_ value: Int128) throws { try encoder.encodeSingle(value) }
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        func encode(_ value: UInt128) throws { try encoder.encodeSingle(value) }
    }
}

extension UnsafeRawBufferPointer {
    /// Two bits that depend on the text of a key, and whether the text is ASCII.
    @inline(__always)
    var keyBits: (bits: UInt64, isASCII: Bool) {
        var (hash, all) = (UInt64(count), UInt64(0))
        func add(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            all |= word
        }
        // The last word may overlap the one before.
        if count >= 8 {
            var offset = 0
            while offset < count - 8 {
                add(loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            add(loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        } else if count >= 4 {
            let end = loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            add(UInt64(loadUnaligned(as: UInt32.self)) << 32 | UInt64(end))
        } else if count > 0 {
            add(UInt64(self[0]) << 16 | UInt64(self[count / 2]) << 8 | UInt64(self[count - 1]))
        }
        return (1 << (hash >> 58) | 1 << (hash >> 52 & 63), all & 0x8080_8080_8080_8080 == 0)
    }
}
