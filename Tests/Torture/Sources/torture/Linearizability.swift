/// An operation on the keys a and b.
///
/// The value of a key is the stored number, 1 to 3, or 0 if it is missing. A state holds both
/// values in two bits each, b in the upper ones.
struct Operation {
    enum Kind: CaseIterable { case get, set, update, remove, setBoth, readBoth }

    /// The result of an operation that failed, and so had no effect.
    static let failed = -1

    var worker: Int
    var kind: Kind
    /// 0 for a, 1 for b.
    var key: Int
    /// A value, a number to add, or a state.
    var argument: Int
    /// The value or state that it read; 0 if it reads none.
    var result = 0
    /// When it was called and when it returned. `Int.max` means that it did not return, and may
    /// have had its effect or not.
    var begin = 0, end = Int.max

    /// Returns the state after the operation; `nil` if it would have read something else.
    func applied(to state: Int) -> Int? {
        let old = state >> (2 * key) & 3
        func with(_ new: Int) -> Int { state + (new - old) << (2 * key) }
        let (read, new) =
            switch kind {
            case .get: (old, state)
            case .set: (0, with(argument))
            case .update: (old, with((old + argument) & 3))
            case .remove: (0, with(0))
            case .setBoth: (state, argument)
            case .readBoth: (state, state)
            }
        return result == read || end == .max ? new : nil
    }

    /// - Parameter start: The time to count from.
    func described(from start: Int) -> String {
        let name = key == 0 ? "a" : "b"
        let words =
            switch kind {
            case .get: "get \(name): \(describe(value: result))"
            case .set: "set \(name) to \(describe(value: argument))"
            case .update: "update \(name) by \(argument), was \(describe(value: result))"
            case .remove: "remove \(name)"
            case .setBoth: "set both to \(describe(state: argument)), were \(describe(state: result))"
            case .readBoth: "read both: \(describe(state: result))"
            }
        let time = "\(begin - start)...\(end == .max ? "" : "\(end - start)") ns"
        return "  worker \(worker), \(time): \(result == Self.failed ? "\(kind) failed" : words)"
    }
}

func describe(value: Int) -> String { value == 0 ? "none" : "\(value)" }
func describe(state: Int) -> String { "\(describe(value: state & 3)), \(describe(value: state >> 2))" }

/// Returns whether the operations, one by one in some order, lead from one state to another with
/// the results that they had, and no operation comes before one that had already returned when it
/// was called.
func isLinearizable(_ operations: [Operation], from first: Int, to last: Int) -> Bool {
    // The search of Wing and Gong. A set of operations is a number with a bit for each.
    let returned = operations.indices.reduce(0) { $0 | (operations[$1].end < .max ? 1 << $1 : 0) }
    var tried: Set<Int> = []
    func search(_ done: Int, _ state: Int) -> Bool {
        if done & returned == returned && state == last { return true }
        guard tried.insert(done << 4 | state).inserted else { return false }
        let left = operations.indices.filter { done & 1 << $0 == 0 }
        let firstEnd = left.map { operations[$0].end }.min() ?? 0
        return left.contains { index in
            guard operations[index].begin <= firstEnd, let new = operations[index].applied(to: state) else {
                return false
            }
            return search(done | 1 << index, new)
        }
    }
    return search(0, first)
}
