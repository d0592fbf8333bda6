/// A hash of how a type encodes itself: the types of its containers, the names of its entries, and
/// the types of its values.
struct EncodedForm {
    /// Marks a place where values of several types are written.
    static let severalTypes = ObjectIdentifier(EncodedForm.self)

    private(set) var containers: UInt64 = 0
    private(set) var firstContainer: ObjectIdentifier?
    private var values: UInt64 = 0
    /// The address of the type of all values so far; 0 without values, 1 for several types.
    private var onlyType: UInt = 0
    /// The entries whose keys are names, in any order.
    private var entries: UInt64 = 0

    mutating func addContainer(_ type: Any.Type) {
        if firstContainer == nil { firstContainer = ObjectIdentifier(type) }
        Self.mix(UInt64(UInt(bitPattern: ObjectIdentifier(type))), into: &containers)
    }

    mutating func addNested(_ hash: UInt64) { Self.mix(hash, into: &values) }

    /// Adds the type of a value.
    ///
    /// Values that all have one type count once, so that an array has one form whatever its length.
    ///
    /// - Parameter count: Returns the number of values before this one.
    @inline(__always)
    mutating func addValue(_ type: Any.Type, before count: () -> Int) {
        let type = UInt(bitPattern: ObjectIdentifier(type))
        if type == onlyType { return }
        if onlyType == 0 {
            onlyType = type
            return
        }
        if onlyType != 1 {
            Self.mix(UInt64(onlyType), into: &values)
            Self.mix(UInt64(count()), into: &values)
            onlyType = 1
        }
        Self.mix(UInt64(type), into: &values)
    }

    /// Adds the type of a value under a key.
    ///
    /// A type may lose one of its properties and keep the others, so their names count. The keys of
    /// a dictionary are data and do not count.
    ///
    /// - Parameter count: Returns the number of values before this one.
    @inline(__always)
    mutating func addValue<Key: CodingKey>(_ type: Any.Type, under key: Key, before count: () -> Int) {
        // The case of an enum without payloads. A key that holds any text is larger.
        guard MemoryLayout<Key>.size == 1 else { return addValue(type, before: count) }
        let name = withUnsafeBytes(of: key) { $0[0] }
        var entry = UInt64(name)
        Self.mix(UInt64(UInt(bitPattern: ObjectIdentifier(type))), into: &entry)
        entries &+= entry ^ entry >> 32
    }

    var hash: UInt64 {
        var hash = values
        Self.mix(entries, into: &hash)
        Self.mix(UInt64(onlyType), into: &hash)
        Self.mix(containers, into: &hash)
        return hash
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = ((hash << 23 | hash >> 41) ^ word) &* 0x9E37_79B9_7F4A_7C15
    }
}
