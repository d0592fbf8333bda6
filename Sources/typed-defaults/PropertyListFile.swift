import Foundation
import TypedDefaults

/// Property list files in Foundation's formats.
enum PropertyListFile {
    /// Returns a binary property list, because XML loses fractions of seconds and the sign of zero.
    ///
    /// The result is read back, because the format does not keep some values, such as the bits of a
    /// NaN.
    static func data(of settings: [(key: String, value: PropertyList)]) throws(Failure) -> Data {
        let objects = Dictionary(settings.map { ($0.key, $0.value.object) }) { first, _ in first }
        guard let data = try? PropertyListSerialization.data(fromPropertyList: objects, format: .binary, options: 0)
        else {
            throw .unavailable("Foundation cannot write this suite as a property list; export it as JSON")
        }
        var readBack: [[UInt8]: PropertyList] = [:]
        for (key, value) in try Self.settings(in: data, "the property list") { readBack[Array(key.utf8)] = value }
        let lost = settings.filter { readBack[Array($0.key.utf8)] != $0.value }.map { "“\($0.key)”" }
        guard lost.isEmpty else {
            throw .unavailable("a property list cannot hold \(lost.joined(separator: ", ")) exactly; export as JSON")
        }
        return data
    }

    /// Returns whether the data is a binary or XML property list, and not JSON.
    static func isOne(_ data: Data) -> Bool {
        if data.starts(with: "bplist".utf8) { return true }
        // XML starts with “<” in each of its encodings.
        return data.first { ![0x20, 0x09, 0x0A, 0x0D, 0x00, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF].contains($0) }
            == UInt8(ascii: "<")
    }

    static func settings(in data: Data, _ name: String) throws(Failure) -> [(key: String, value: PropertyList)] {
        // Foundation unfolds a binary property list without end, if arrays in it share elements.
        guard !data.starts(with: "bplist".utf8) || ForeignData(data) != nil,
            let root = try? PropertyListSerialization.propertyList(from: data, format: nil)
        else { throw .unavailable("\(name) is a property list that cannot be read, or is nested too deeply") }
        guard let objects = root as? [String: Any] else {
            throw .unavailable("\(name) is not a dictionary of keys and values")
        }
        var settings: [(key: String, value: PropertyList)] = []
        for (key, object) in objects {
            guard let value = try? PropertyList(convertingNumbers(in: object)) else {
                throw .unavailable("\(name) has a value under “\(key)” that cannot be stored")
            }
            settings.append((key, value))
        }
        return settings.sortedByBytes()
    }

    /// Returns the object with property lists in place of Foundation numbers, because on Linux the
    /// library does not link Foundation. Objects that are nested deeper than the limit of property
    /// lists are not converted.
    private static func convertingNumbers(in object: Any, levels: Int = PropertyList.depthLimit) -> Any {
        if let number = number(object) { return number }
        guard levels > 0 else { return object }
        switch object {
        case let elements as [Any]: return elements.map { convertingNumbers(in: $0, levels: levels - 1) }
        case let entries as [String: Any]:
            return entries.mapValues { convertingNumbers(in: $0, levels: levels - 1) }
        default: return object
        }
    }

    /// Compares the class and `objCType`, because a cast would convert 1 to `true` and `true` to 1.
    private static func number(_ object: Any) -> PropertyList? {
        guard type(of: object) is NSNumber.Type, let number = object as? NSNumber else { return nil }
        if number === true as NSNumber { return true }
        if number === false as NSNumber { return false }
        switch number.objCType.pointee {
        case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): return .double(number.doubleValue)
        case CChar(UInt8(ascii: "Q")): return PropertyList(exactly: number.uint64Value)
        default: return .integer(number.int64Value)
        }
    }
}
