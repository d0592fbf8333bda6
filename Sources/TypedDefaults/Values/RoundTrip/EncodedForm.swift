/// A hash of how a type encodes itself: the types of its containers and, in order, of its values.
struct EncodedForm {
    /// Marks a place where values of several types are written.
    static let severalTypes = ObjectIdentifier(EncodedForm.self)

    private(set) var containers: UInt64 = 0
    private(set) var firstContainer: ObjectIdentifier?
    private var values: UInt64 = 0
    /// The address of the type of all values so far; 0 without values, 1 for several types.
    private var onlyType: UInt = 0

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

    var hash: UInt64 {
        var hash = values
        Self.mix(UInt64(onlyType), into: &hash)
        Self.mix(containers, into: &hash)
        return hash
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = ((hash << 23 | hash >> 41) ^ word) &* 0x9E37_79B9_7F4A_7C15
    }
}
