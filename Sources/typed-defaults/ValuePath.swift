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
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for count in (1...names.count).reversed() {
            let key = names[..<count].joined(separator: ".")
            guard let value = try valueOfKey(key) else { continue }
            (self.key, self.value, self.names) = (key, value, Array(names[count...]))
            return
        }
        return nil
    }

    /// Whether the value has parts, so that a path can lead into it.
    var hasParts: Bool {
        switch value {
        case .dictionary, .array: true
        default: false
        }
    }

    /// Returns the part of the value.
    func part() throws(Failure) -> PropertyList {
        var (part, path) = (value, key)
        for name in names {
            let next: PropertyList?
            let others: String
            switch part {
            case .dictionary(let entries):
                (next, others) = (entries[name], didYouMean(name, in: entries.keys))
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
