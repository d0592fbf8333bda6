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
        let valueType = value.map { elementType(type(of: $0)) }
        let cases = caseForms(valueType).filter(isChoice)
        if !cases.isEmpty { return [(path, cases, true)] }
        if let entries = part?.entries, isConfig && path.isEmpty || !entries.isEmpty {
            let children = value.map { Array(Mirror(reflecting: $0).children) } ?? []
            let parts = Dictionary(children.map { ($0.label ?? "", $0.value) }) { first, _ in first }
            let optionals = parts.filter { Mirror(reflecting: $0.value).displayStyle == .optional }.keys
            let names = Set(entries.keys).union(optionals).sorted()
            return names.flatMap { choices(root, at: path + [$0], entries[$0], parts[$0]) }
        }
        var values = candidates(part, valueType).first(where: isChoice).map { [$0] } ?? []
        let edges = [-1, 1].compactMap { edge(of: part ?? values.first, $0, isChoice) }
        values += edges.filter { !values.contains($0) && isChoice($0) }
        return [(path, values, false)]
    }

    /// The entries of a config that differ in each instance, such as an identifier, with fixed
    /// values.
    var pinned: PropertyList? { newForm(Value.self).flatMap { fixed($0)?.changes(from: $0) } }

    /// The form of a new config, with fixed values for what differs in each instance.
    var fixed: PropertyList? { newForm(Value.self).flatMap(fixed) }

    private func fixed(_ one: PropertyList) -> PropertyList? { newForm(Value.self).map { fix(one, $0, accepts) } }

    /// Returns a form with fixed values for what another one has otherwise.
    private func fix(
        _ one: PropertyList, _ other: PropertyList, _ isAccepted: (PropertyList) -> Bool
    ) -> PropertyList {
        guard one != other else { return one }
        if let all = one.entries, let others = other.entries, all.keys == others.keys {
            return .dictionary(
                all.reduce(into: all) { all, entry in
                    all[entry.key] = fix(entry.value, others[entry.key] ?? [:]) { [all] part in
                        isAccepted(.dictionary(all.merging([entry.key: part]) { $1 }))
                    }
                })
        }
        if case .array(let elements) = one, case .array(let others) = other, elements.count == others.count {
            var all = elements
            for index in all.indices {
                all[index] = fix(elements[index], others[index]) { [all] part in
                    isAccepted(.array(all[..<index] + [part] + all[(index + 1)...]))
                }
            }
            // A set cannot hold the same identifier twice.
            if all.indices.allSatisfy({ all[$0] != elements[$0] || all[$0] == others[$0] }) { return .array(all) }
        }
        var start = one
        if one.number != nil { start = one.object is Double ? .double(0) : .integer(0) }
        let edge = edge(of: one, -1, isAccepted).map { [$0] } ?? []
        return (candidates(start, nil) + edge).first(where: isAccepted) ?? one
    }

    /// Returns the last number in a direction that the rules of the setting accept, or an empty or
    /// long text or list.
    private func edge(of part: PropertyList?, _ sign: Double, _ isChoice: (PropertyList) -> Bool) -> PropertyList? {
        if case .string? = part { return .string(String(repeating: "0123456789", count: sign < 0 ? 0 : 10)) }
        if case .array(let all)? = part { return .array(Array(repeating: all.first ?? "", count: sign < 0 ? 0 : 10)) }
        // Thousandths, so that the edge of a rule such as 0.1...0.9 is found.
        guard let part, let number = part.number, abs(number) <= releaseLimit else { return nil }
        let scale: Double = part.object is Double ? 1_000 : 1
        func form(_ step: Double) -> PropertyList { scale > 1 ? .double(step / scale) : .integer(Int64(step)) }
        var last = (number * scale).rounded()
        for step in sequence(first: 0x1p40, next: { $0 > 1 ? $0 / 2 : nil }) {
            let next = last + sign * step
            if abs(next) <= releaseLimit * scale, form(next) == part || isChoice(form(next)) { last = next }
        }
        return form(last)
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
            let scalars = [fixedForm(type)].compactMap { $0 } + others + texts
            let cases = caseForms(type)
            // A set is stored in the order of its elements.
            return [.array(cases), .array(cases.sorted { $0.jsonText < $1.jsonText })] + scalars + scalars.map { [$0] }
                + scalars.map { ["key": $0] } + [[], [:]]
        }
    }
}
