import TypedDefaults

/// The greatest number that is tried. Beyond, code of a program may overflow.
let releaseLimit = 1e9

extension ReleasedSetting {
    var isConfig: Bool { Value.self is any DefaultConfig.Type }

    /// Returns whether a program can store a value that has this form.
    func accepts(_ form: PropertyList) -> Bool { (try? read([name: form])) == form }

    typealias Choices = (path: [String], values: [PropertyList], isClosed: Bool)

    /// Returns the properties, and values that a user can choose, the most usual one first. A list
    /// that is closed has all of them, and one that is empty has none that was found.
    ///
    /// - Parameters:
    ///   - root: The form of the setting.
    ///   - part: The form of the property at the path.
    ///   - value: The property itself, if it is known.
    func choices(_ root: PropertyList, at path: [String] = [], _ part: PropertyList?, _ value: Any?) -> [Choices] {
        func isChoice(_ new: PropertyList) -> Bool { new != part && accepts(root.replacing(path[...], by: new)) }
        let valueType = value.map { type(of: $0) }
        let wrapped = (valueType as? any AnyOptional.Type)?.wrapped ?? valueType
        let cases = (wrapped as? any CaseIterable.Type)?.allCases.map(caseForm).filter(isChoice) ?? []
        if !cases.isEmpty { return [(path, cases, true)] }
        if let entries = part?.entries, path.isEmpty || !entries.isEmpty {
            let children = value.map { Array(Mirror(reflecting: $0).children) } ?? []
            let parts = Dictionary(children.map { ($0.label ?? "", $0.value) }) { first, _ in first }
            let optionals = parts.filter { type(of: $0.value) is any AnyOptional.Type }.keys
            let names = Set(entries.keys).union(optionals).sorted()
            return names.flatMap { choices(root, at: path + [$0], entries[$0], parts[$0]) }
        }
        var values = candidates(part, wrapped).first(where: isChoice).map { [$0] } ?? []
        values += [-1, 1].compactMap { edge(of: part ?? values.first, $0, isChoice) }.filter { !values.contains($0) }
        return [(path, values, false)]
    }

    /// The entries that differ between two defaults, such as an identifier, with fixed values.
    var pinned: PropertyList? {
        let (one, other) = (newForm(Value.self) ?? [:], newForm(Value.self)?.entries ?? [:])
        let random = one.entries?.filter { $0.value != other[$0.key] } ?? [:]
        let fixed = random.reduce(into: [:]) { fixed, entry in
            fixed[entry.key] = candidates(entry.value, nil).first { accepts(one.replacing([entry.key], by: $0)) }
        }
        return fixed.isEmpty ? nil : .dictionary(fixed)
    }

    /// Returns the last number in a direction that the rules of the setting accept.
    private func edge(of part: PropertyList?, _ sign: Double, _ isChoice: (PropertyList) -> Bool) -> PropertyList? {
        // Thousandths, so that the edge of a rule such as 0.1...0.9 is found.
        guard let part, let number = part.number else { return nil }
        let scale: Double = part.object is Double ? 1_000 : 1
        func form(_ step: Double) -> PropertyList { scale > 1 ? .double(step / scale) : .integer(Int64(step)) }
        var last = (number * scale).rounded()
        for step in sequence(first: 0x1p40, next: { $0 > 1 ? $0 / 2 : nil }) {
            let next = last + sign * step
            if abs(next) <= releaseLimit * scale, form(next) == part || isChoice(form(next)) { last = next }
        }
        return isChoice(form(last)) ? form(last) : nil
    }

    private func candidates(_ part: PropertyList?, _ type: Any.Type?) -> [PropertyList] {
        let texts: [PropertyList] = ["text", "7", "https://example.com/", "00000000-0000-0000-0000-000000000001"]
        // Two values of each other kind.
        let forms = LawSample.samples.prefix(2).compactMap { try? PropertyList($0.serialize()).entries }
        let others = ["isOn", "count", "number", "data", "date"].flatMap { name in forms.compactMap { $0[name] } }
        switch part {
        case .integer(let value): return [value &+ 1, value &- 1, 0].map(PropertyList.integer)
        // A fraction first, which an integer cannot hold.
        case .double(let value): return [value + 0.5, value / 2, value - 0.1, value + 1].map(PropertyList.double)
        default:
            let scalars = [newForm(type)].compactMap { $0 } + others + texts
            return scalars + scalars.map { [$0] } + scalars.map { ["key": $0] } + [[], [:]]
        }
    }
}

/// Returns the form of a new instance of a config.
private func newForm(_ type: Any.Type?) -> PropertyList? {
    (type as? any DefaultConfig.Type).flatMap { try? PropertyList($0.init().serialize()) }
}

/// Returns the form that a case of an enum usually has.
private func caseForm(_ value: Any) -> PropertyList {
    (value as? any RawRepresentable).flatMap { try? PropertyList($0.rawValue) } ?? ["\(value)": [:]]
}

private protocol AnyOptional { static var wrapped: Any.Type { get } }
extension Optional: AnyOptional { static var wrapped: Any.Type { Wrapped.self } }
