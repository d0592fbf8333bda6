import TypedDefaults

/// A key, and the way to a part of its value: `CameraConfig.size`, or `windows.0.title`.
struct ValuePath {
    /// The key and the value of it.
    let key: String
    private let value: PropertyList
    private let names: [String]

    /// Finds the longest key at the beginning of the text; `nil` if there is none.
    ///
    /// - Parameter valueOfKey: Returns the value of a key, or `nil` if the suite lacks it.
    init?(_ text: String, _ valueOfKey: (String) throws(Failure) -> PropertyList?) throws(Failure) {
        let names = try Self.names(in: text)
        for count in (1...names.count).reversed() {
            let key = names[..<count].joined(separator: ".")
            guard let value = try valueOfKey(key) else { continue }
            (self.key, self.value, self.names) = (key, value, Array(names[count...]))
            return
        }
        return nil
    }

    /// Splits a text. Refuses more names than a key and a value can have, before any other work.
    private static func names(in text: String) throws(Failure) -> [String] {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.count <= 1_000 else { throw .usage("a key and a path of \(names.count) names are too long") }
        return names
    }

    /// The way to a part of a value that does not exist yet.
    init(new text: String) throws(Failure) {
        let names = try Self.names(in: text)
        (key, value, self.names) = (names[0], .dictionary([:]), Array(names.dropFirst()))
    }

    /// Returns the value with another part, in dictionaries that are made if they are missing;
    /// `nil` removes the part.
    func replacing(with part: PropertyList?) throws(Failure) -> PropertyList? {
        try Self.replaced(value, at: names[...], key, with: part)
    }

    private static func replaced(
        _ value: PropertyList?, at names: ArraySlice<String>, _ path: String, with part: PropertyList?
    ) throws(Failure) -> PropertyList? {
        guard let name = names.first else { return part }
        let (rest, inner) = (names.dropFirst(), "\(path).\(name)")
        switch value ?? .dictionary([:]) {
        case .dictionary(var entries):
            entries[name] = try replaced(entries[name], at: rest, inner, with: part)
            return .dictionary(entries)
        case .array(var elements):
            guard let index = Int(name), elements.indices.contains(index) else {
                throw .missing(
                    "“\(path)” has no part “\(name)”; it is an array of \(elements.count), counted from 0")
            }
            let element = try replaced(elements[index], at: rest, inner, with: part)
            elements.replaceSubrange(index...index, with: element.map { [$0] } ?? [])
            return .array(elements)
        default: throw .missing("“\(path)” has no part “\(name)”; it is neither a dictionary nor an array")
        }
    }

    /// Returns the part of the value.
    ///
    /// - Parameter hint: What to add to the error if a dictionary lacks the part.
    func part(orHint hint: String = "") throws(Failure) -> PropertyList {
        var (part, path) = (value, key)
        for name in names {
            let next: PropertyList?
            let others: String
            switch part {
            case .dictionary(let entries):
                (next, others) = (entries[name], hint + didYouMean(name, in: entries.keys))
            case .array(let elements):
                next = Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
                others = "; it is an array of \(elements.count), counted from 0"
            default: (next, others) = (nil, "; it is neither a dictionary nor an array")
            }
            guard let next else { throw .missing("“\(path)” has no part “\(name)”\(others)") }
            (part, path) = (next, "\(path).\(name)")
        }
        return part
    }
}
