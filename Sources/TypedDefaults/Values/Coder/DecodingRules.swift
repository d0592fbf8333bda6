#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How a stored value is read. The decoder walks the tree; what depends on who wrote it is here.
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
    /// The parts that were taken from the default, in their native form even in such a tree.
    var defaultPaths: Set<[String]> = []
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The entries that the decoder supplies if the whole value lacks them.
    var supplied: [(name: String, node: PropertyList)] = []
    /// Takes the entries that no type reads; `nil` to look for none.
    var faults: FaultList?
    /// Whether the value is given, and not stored.
    var isGiven = false
    /// Whether the type is known to have an entry of the root.
    var hasKnownEntry = false
}

extension DecodingRules {
    /// Returns the value of a type with a native form; `nil` if it is not read from this form.
    ///
    /// | the form | is read |
    /// |---|---|
    /// | that the type writes, `isOwnForm` | always |
    /// | another one that the type accepts | where ``leniency`` allows it |
    /// | that Foundation's decoders read, `isForeignForm` and `init(foreign:)` | from ``isForeign`` trees |
    /// | text | from arguments |
    func value(_ type: any NativeValue.Type, of node: PropertyList, at path: @autoclosure () -> [String]) -> Any? {
        // In JSON, a string is never a number.
        if isForeign, type == Decimal.self, case .string = node, !isDefault(path()) { return nil }
        let isExpected = isForeign ? node.isForeignForm(of: type) : node.isOwnForm(of: type)
        if isExpected || isLenient(path()), let value = type.init(node) { return value }
        if isForeign { return type.init(foreign: node) }
        if readsArguments, case .string(let text) = node { return type.init(argument: text) }
        return nil
    }

    /// Whether a type with a native form, such as `Date`, is also read by its `init(from:)`. The
    /// `Codable` forms of numbers, Booleans and strings are the types themselves.
    func readsCodableForm(of type: Any.Type) -> Bool {
        isForeign && !isNumber(type) && type != Bool.self && type != String.self
    }

    /// Returns a node as the tree that the program gets. One of Foundation's has marks.
    func tree(_ node: PropertyList, at path: @autoclosure () -> [String]) -> PropertyList? {
        isForeign && !isDefault(path()) ? node.withoutMarks : node.isNilMarker ? nil : node.unescapedFromNil
    }

    func isDefault(_ path: [String]) -> Bool { defaultPaths.contains(partAround: path) }

    private func isLenient(_ path: @autoclosure () -> [String]) -> Bool {
        switch leniency {
        case .none: false
        case .all: true
        case .parts(let parts): parts.contains(partAround: path())
        }
    }
}

func isNumber(_ type: Any.Type) -> Bool {
    type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type
}

extension Set<[String]> {
    /// Whether a path, or one that it begins with, is in the set.
    fileprivate func contains(partAround path: @autoclosure () -> [String]) -> Bool {
        guard !isEmpty else { return false }
        let path = path()
        return (0...path.count).contains { contains(Array(path[..<$0])) }
    }
}
