import SettingsFile

/// The types that read back what they encode, and the forms in which they do.
enum CheckedTypes {
    /// A class, so that a lookup copies nothing.
    private final class Forms {
        /// The form that was checked first, which a lookup compares before the others.
        let first: UInt64
        var others: Set<UInt64> = []
        private var places: [String: ObjectIdentifier] = [:]
        /// Whether each value has to be checked, because decoding depends on the value.
        var isAmbiguous = false

        init(first: UInt64) { self.first = first }

        func add(_ note: RoundTripTrace.Note) {
            guard !isAmbiguous else { return }
            if note.form != first {
                if others.count == formLimit { others = [] }
                others.insert(note.form)
            }
            // The number of places depends on the data only in an unkeyed container.
            for (place, type) in note.places where places.count < placeLimit || places[place] != nil {
                let known = places.updateValue(type, forKey: place) ?? type
                if known != type || type == EncodedForm.severalTypes { isAmbiguous = true }
            }
        }
    }

    private struct Types {
        var forms: [ObjectIdentifier: Forms] = [:]
        /// The last answers that were true, at a place that depends on type and form, because the
        /// dictionary takes five times as long.
        private var recent: [(type: UInt, form: UInt64)] = Array(repeating: (0, 0), count: 64)

        @inline(__always)
        mutating func contains(_ type: Any.Type, _ form: UInt64) -> Bool {
            let address = UInt(bitPattern: ObjectIdentifier(type))
            let place = Int(truncatingIfNeeded: (form ^ UInt64(address) >> 4) & 63)
            if recent[place] == (address, form) { return true }
            guard let forms = forms[ObjectIdentifier(type)], !forms.isAmbiguous,
                forms.first == form || forms.others.contains(form)
            else { return false }
            recent[place] = (address, form)
            return true
        }

        mutating func forgetRecent() { for place in recent.indices { recent[place] = (0, 0) } }
    }

    private static let types = Forks.holding(Locked(Types()))
    /// The limit on forms, because a type whose form depends on its data must not fill the memory.
    /// A struct with ten optional properties has a thousand.
    private static let formLimit = 4096
    private static let placeLimit = 64

    static func contains(_ type: Any.Type, _ form: UInt64) -> Bool {
        types.withLock { $0.contains(type, form) }
    }

    /// Adds the types of a value that passed the check.
    ///
    /// - Parameter unread: The paths of entries that were written and not read. A constant may have
    ///   taken their place, so each value of such a type is checked.
    static func insert(_ notes: [RoundTripTrace.Note], unread: [[String]]) {
        types.withLock { types in
            types.forgetRecent()
            for note in notes {
                forms(of: note.type, first: note.form, in: &types.forms).add(note)
            }
            for path in unread {
                let owners = notes.filter { $0.path.count < path.count && path.starts(with: $0.path) }
                let depth = owners.map(\.path.count).max()
                for owner in owners where owner.path.count == depth {
                    types.forms[ObjectIdentifier(owner.type)]?.isAmbiguous = true
                }
            }
        }
    }

    /// Records that a type has tried to read another type first.
    static func noteAmbiguity(of type: Any.Type) {
        types.withLock { types in
            let forms = forms(of: type, first: 0, in: &types.forms)
            guard !forms.isAmbiguous else { return }
            forms.isAmbiguous = true
            types.forgetRecent()
        }
    }

    private static func forms(of type: Any.Type, first: UInt64, in types: inout [ObjectIdentifier: Forms]) -> Forms {
        if let forms = types[ObjectIdentifier(type)] { return forms }
        let forms = Forms(first: first)
        types[ObjectIdentifier(type)] = forms
        return forms
    }
}
