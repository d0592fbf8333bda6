import SettingsFile

/// Encodes one value as the bytes of its stored form.
///
/// The encoder of a nested value appends to the bytes of the value around it. A container that
/// stays open while others are written, as `nestedContainer` and `superEncoder` return it, has
/// bytes of its own, which are inserted when the value around it ends.
final class StoredValueEncoder: Encoder {
    enum Shape { case empty, single, unkeyed, keyed }
    enum State {
        case writing
        /// A nested value is being written at the end of the bytes.
        case suspended
        case finished
    }

    let parent: StoredValueEncoder?
    let key: (any CodingKey)?
    /// The number of encoders down to this one.
    private let depth: Int
    /// The number of dictionaries and arrays around the value.
    private let outerLevels: Int
    private let sharedUserInfo: [CodingUserInfoKey: any Sendable]
    /// Whether the value is a whole setting of optional type. Then nil removes the key, and a
    /// string needs no escape.
    let isOptionalRoot: Bool
    /// The type that encodes itself here; `nil` in a nested container.
    let valueType: Any.Type?
    /// Whether the bytes are those of the value around this one.
    private let sharesBytes: Bool
    /// The bytes. They are deallocated with the encoder that owns them.
    let writer: UnsafeMutablePointer<ByteWriter>
    /// Where the value begins in the bytes.
    let start: Int

    // Safe: one thread encodes a value, and no code of the program runs during a change. In a `set`
    // of five properties, checks for exclusive access take 684 instructions for `open`, 661 for
    // `keys`.
    var state = State.writing
    var shape = Shape.empty
    /// The number of entries, elements or single values in the bytes.
    var count = 0
    @exclusivity(unchecked)
    var keys = SeenKeys()
    /// The containers that are still open, and where their bytes belong.
    @exclusivity(unchecked)
    var open: [(offset: Int, encoder: StoredValueEncoder)] = []
    /// The first failure in a method that cannot throw.
    var failure: (any Error)?

    init(_ valueType: Any.Type, userInfo: [CodingUserInfoKey: any Sendable], isOptionalRoot: Bool) {
        self.valueType = valueType
        self.isOptionalRoot = isOptionalRoot
        (parent, key, depth, outerLevels, start, sharesBytes) = (nil, nil, 1, 0, 0, false)
        sharedUserInfo = userInfo
        writer = .allocate(capacity: 1)
        writer.initialize(to: ByteWriter(capacity: 256))
    }

    init(parent: StoredValueEncoder, key: consuming (any CodingKey)?, valueType: Any.Type?, sharesBytes: Bool) {
        self.parent = parent
        self.key = key
        self.valueType = valueType
        self.sharesBytes = sharesBytes
        depth = parent.depth + 1
        outerLevels = parent.outerLevels + (parent.shape == .single ? 0 : 1)
        sharedUserInfo = parent.sharedUserInfo
        isOptionalRoot = false
        if sharesBytes {
            (writer, start) = (parent.writer, parent.writer.pointee.count)
        } else {
            (writer, start) = (.allocate(capacity: 1), 0)
            writer.initialize(to: ByteWriter(capacity: 64))
        }
    }

    deinit {
        guard !sharesBytes else { return }
        writer.deinitialize(count: 1)
        writer.deallocate()
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
            if state == .writing, wanted != .single {
                writer.pointee.append(byte: (wanted == .keyed ? ValueTag.dictionary : .array).rawValue)
                // The count, which is inserted at the end.
                writer.pointee.append(byte: 0)
            }
        } else if shape != wanted {
            fail("asked for two different containers for one value")
        }
        if isTooDeep { fail(PropertyList.tooDeep) }
    }

    /// Whether the value is a dictionary or an array beyond the depth limit.
    @inline(__always)
    var isTooDeep: Bool { outerLevels >= PropertyList.depthLimit && shape != .single }

    func fail(_ reason: String) { if failure == nil { failure = invalid(reason) } }

    func invalid(_ reason: String, at key: (any CodingKey)? = nil) -> EncodingError {
        // The type instead of the value, because an error must not contain a value.
        .invalidValue(
            PropertyList.self,
            .init(
                codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: reason,
                underlyingError: DefaultsError(.refused, reason: reason)))
    }

    /// Whether the value can be written to now.
    @inline(__always)
    var isWriting: Bool { state == .writing || refuseWrite() }

    @inline(never)
    private func refuseWrite() -> Bool {
        if state == .suspended { fail("used a container while a value inside it was being encoded") }
        return false
    }
}

// Entries, elements and single values.
extension StoredValueEncoder {
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, forKey key: some CodingKey) throws {
        guard isWriting else { return }
        let end = writer.pointee.count
        append(key: key)
        if !appendPlain(value) { try undoing(to: end) { try appendOther(value, key: key) } }
        count += 1
    }

    @inline(__always)
    func append<Value: Encodable>(_ value: Value) throws {
        guard isWriting else { return }
        if !appendPlain(value) {
            try undoing(to: writer.pointee.count) { try appendOther(value, key: IndexKey(count)) }
        }
        count += 1
    }

    /// Encodes the single value. A second value replaces the first one.
    ///
    /// A string is escaped. A value that encodes itself escapes its content and passes on its nil,
    /// as in JSON. Only an optional adds a layer, because its own nil must differ from a nil inside
    /// it.
    func encodeSingle<Value: Encodable>(_ value: Value) throws {
        guard isWriting else { return }
        writer.pointee.truncate(to: start)
        count = 0
        if isOptionalRoot || !appendPlain(value) { try undoing(to: start) { try appendOtherSingle(value) } }
        count = 1
    }

    func encodeNil(forKey key: some CodingKey) {
        guard isWriting else { return }
        append(key: key)
        writer.pointee.append(.nilMarker)
        count += 1
    }

    func encodeNil() {
        guard isWriting else { return }
        writer.pointee.append(.nilMarker)
        count += 1
    }

    func encodeSingleNil() {
        guard isWriting else { return }
        writer.pointee.truncate(to: start)
        count = isOptionalRoot ? 0 : 1
        if !isOptionalRoot { writer.pointee.append(.nilMarker) }
    }

    func append(key: some CodingKey) {
        var name = key.stringValue
        name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            writer.pointee.append(counted: name)
            let (first, count) = (open.isEmpty ? start + Self.headerLength : nil, count)
            writer.pointee.withBytes { keys.insert(name, after: count, in: $0, from: first) }
        }
    }

    static let headerLength = 2

    /// Removes what was written if writing it has failed, because a type may catch the error and go
    /// on.
    @inline(__always)
    private func undoing(to end: Int, _ write: () throws -> Void) throws {
        do { try write() } catch {
            writer.pointee.truncate(to: end)
            throw error
        }
    }

    /// Appends a value whose encoding cannot fail. Returns false for other values.
    @inline(__always)
    private func appendPlain<Value>(_ value: Value) -> Bool {
        // A type that opens containers in itself endlessly is stopped by the error for its value.
        guard outerLevels < PropertyList.depthLimit else { return false }
        if let string = cast(value, to: String.self) {
            if string.utf8.first == UInt8(ascii: "$") { return false }
            writer.pointee.append(byte: ValueTag.string.rawValue)
            writer.pointee.append(string)
        } else if let number = cast(value, to: Int.self) {
            writer.pointee.append(byte: ValueTag.integer.rawValue)
            writer.pointee.append(word: UInt64(bitPattern: Int64(number)))
        } else if let number = cast(value, to: Double.self) {
            writer.pointee.append(byte: ValueTag.double.rawValue)
            writer.pointee.append(word: number.bitPattern)
        } else if let isTrue = cast(value, to: Bool.self) {
            writer.pointee.append(byte: isTrue ? 1 : 0)
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
        guard let native = try native(value, key: key) else { return try appendNested(value, key: key) }
        try append(node: native.escapedFromNil)
    }

    private func appendOtherSingle<Value: Encodable>(_ value: Value) throws {
        if let native = try native(value, key: nil) {
            // A whole setting has no nil: its key is removed.
            return try append(node: isOptionalRoot ? native : native.escapedFromNil)
        }
        try appendNested(value, key: nil)
        guard !isOptionalRoot, writer.pointee.isString(at: start), valueType is any AnyOptional.Type else { return }
        let node = writer.pointee.value(from: start)
        writer.pointee.truncate(to: start)
        writer.pointee.append(node.escapedFromNil)
    }

    private func native<Value>(_ value: Value, key: (any CodingKey)?) throws -> PropertyList? {
        do { return try nativeForm(of: value) } catch { throw invalid(error.reason, at: key) }
    }

    private func append(node: PropertyList) throws {
        let levels = outerLevels + (shape == .single ? 0 : 1)
        guard writer.pointee.append(node, depth: levels + 1) else { throw invalid(PropertyList.tooDeep) }
    }

    private func appendNested<Value: Encodable>(_ value: Value, key: (any CodingKey)?) throws {
        guard depth < PropertyList.recursionLimit else { throw invalid(PropertyList.tooRecursive, at: key) }
        state = .suspended
        defer { state = .writing }
        let encoder = StoredValueEncoder(parent: self, key: key, valueType: Value.self, sharesBytes: true)
        defer { encoder.close() }
        try value.encode(to: encoder)
        try encoder.finish()
    }
}
