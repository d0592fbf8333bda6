import SettingsFile

// Values that cannot be written in order.
extension StoredValueEncoder {
    /// What an encoder has collected of a value that cannot be written in order.
    final class Tree {
        enum Place {
            case index(Int)
            case key(String)
        }
        @exclusivity(unchecked)
        var single: PropertyList?
        @exclusivity(unchecked)
        var elements: [PropertyList] = []
        @exclusivity(unchecked)
        var entries: [String: PropertyList] = [:]
        /// Nested containers and super encoders, which stay open until this encoder finishes.
        @exclusivity(unchecked)
        var open: [(place: Place, encoder: StoredValueEncoder)] = []
        /// The type that was written in each place of the value. Collected only for a comparison.
        @exclusivity(unchecked)
        var places: [String: ObjectIdentifier] = [:]
        /// Whether the keys of the container are data. Set only for a comparison.
        @exclusivity(unchecked)
        var hasDynamicKeys = false

        /// Notes the type in a place, or that there are several types.
        func add(_ type: ObjectIdentifier, at place: String) {
            let known = places.updateValue(type, forKey: place)
            if let known, known != type { places[place] = EncodedForm.severalTypes }
        }

        func indexOfOpenEntry(_ key: any CodingKey) -> Int? {
            open.firstIndex { place, _ in
                if case .key(let name) = place { name.hasSameBytes(as: key.stringValue) } else { false }
            }
        }
    }

    /// What is written into a tree from now on.
    var writableTree: Tree {
        if mode == .suspended {
            fail("used a container while a value inside it was being encoded")
            return Tree()
        }
        if let tree { return tree }
        let made = Tree()
        tree = made
        return made
    }

    /// Moves what is written so far to a tree.
    func becomeTree() {
        guard mode == .bytes else { return }
        mode = .tree
        let tree = writableTree
        if failure == nil {
            writer.pointee.withBytes { bytes in
                var reader = ByteReader(bytes, at: shape == .single ? start : start + Self.headerLength)
                for _ in 0..<count {
                    // Safe: this encoder has written the bytes.
                    switch shape {
                    case .single: tree.single = reader.value()!
                    case .unkeyed: tree.elements.append(reader.value()!)
                    case .keyed:
                        let name = reader.string()!
                        put(reader.value()!, named: name)
                    case .empty: break
                    }
                }
            }
        }
        writer.pointee.truncate(to: start)
    }

    /// Returns the node; `nil` for an optional root without a value.
    func finishTree() throws -> PropertyList? {
        let tree = writableTree
        mode = .finished
        for (place, encoder) in tree.open {
            let node = try encoder.finishTree() ?? .nilMarker
            if encoder.needsCheck { needsCheck = true }
            switch place {
            case .index(let index): tree.elements[index] = node
            case .key(let key):
                checkBytes(of: key)
                tree.entries[key] = node
            }
            if trace != nil {
                let name =
                    switch place {
                    case .index(let index): "\(index)"
                    case .key(let key): encoder.key?.nameInErrors ?? key
                    }
                for (inner, type) in encoder.writableTree.places { tree.add(type, at: "\(name)\0\(inner)") }
            }
        }
        // Each form counts once, because the number of nested containers may be data.
        if !tree.open.isEmpty {
            for hash in Set(tree.open.map(\.encoder.form.hash)).sorted() { form.addNested(hash) }
        }
        if let failure { throw failure }
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        switch shape {
        case .empty: return .dictionary([:])
        case .single:
            guard let single = tree.single else {
                guard isOptionalRoot else { throw invalid("encoded no value") }
                return nil
            }
            return single
        case .unkeyed: return .array(tree.elements)
        case .keyed:
            if trace != nil {
                tree.entries[RoundTripTrace.keyOfForm] = [
                    RoundTripTrace.mark(form.containers), .bool(tree.hasDynamicKeys),
                ]
            }
            return .dictionary(tree.entries)
        }
    }

    /// Makes later calls of a container that has left `encode(to:)` harmless, and releases the
    /// encoders that stayed open, which have references to this one.
    func close() {
        mode = .finished
        if parent == nil {
            writer.deinitialize(count: 1)
            writer.deallocate()
        }
        guard let tree else { return }
        for (_, encoder) in tree.open { encoder.close() }
        tree.open = []
    }

    /// Returns the node of an entry or element. A value with a native form is escaped here, other
    /// values escape their content.
    func node<Value: Encodable>(for value: Value, key: any CodingKey) throws -> PropertyList {
        // The method that returns a container cannot throw.
        if isTooDeep { throw invalid(PropertyList.tooDeep) }
        guard let native = try nativeNode(of: value, key: key) else { return try nestedNode(value, key: key) }
        return native.escapedFromNil
    }

    /// Returns the node of a single value; see ``encodeSingle(_:)``.
    func singleNode<Value: Encodable>(for value: Value) throws -> PropertyList {
        let native = try nativeNode(of: value, key: nil)
        let node = try native ?? nestedNode(value, key: nil)
        if trace != nil { return RoundTripTrace.layer(around: node) }
        if isOptionalRoot { return node }
        return native != nil || valueType is any AnyOptional.Type ? node.escapedFromNil : node
    }

    func nestedNode<Value: Encodable>(_ value: Value, key: (any CodingKey)?) throws -> PropertyList {
        try checkRecursion(key)
        let encoder = StoredValueEncoder(parent: self, key: key, valueType: Value.self, isTree: true)
        defer { encoder.close() }
        try value.encode(to: encoder)
        guard case .node(let node) = try encoder.finish(value) else { return .nilMarker }
        noteCheck(of: encoder, isNil: node.isNilMarker)
        return node
    }

    /// Returns an encoder for a part whose container stays open until this one finishes.
    func opening(_ place: Tree.Place, key: any CodingKey) -> StoredValueEncoder {
        if isTooDeep, let parent {
            // A sibling of this one, because releasing a chain of any length would recurse as deep.
            return StoredValueEncoder(parent: parent, key: key, valueType: nil, isTree: true)
        }
        let encoder = StoredValueEncoder(parent: self, key: key, valueType: nil, isTree: true)
        writableTree.open.append((place, encoder))
        return encoder
    }

    /// Returns the encoder that is open under the key, or a new one.
    ///
    /// A subclass may ask for the container that its superclass has written. As in JSON, both share
    /// one container.
    func openingEntry(_ key: any CodingKey) -> StoredValueEncoder {
        becomeTree()
        let tree = writableTree
        if trace != nil, key.isData { tree.hasDynamicKeys = true }
        if let index = tree.indexOfOpenEntry(key) { return tree.open[index].encoder }
        checkBytes(of: key.stringValue)
        form.addValue(StoredValueEncoder.self, under: key, before: { tree.entries.count })
        let encoder = opening(.key(key.stringValue), key: key)
        switch tree.entries.removeValue(forKey: key.stringValue) {
        case nil: break
        case .dictionary(let entries):
            encoder.shape = .keyed
            encoder.writableTree.entries = entries
        case .array(let elements):
            encoder.shape = .unkeyed
            encoder.writableTree.elements = elements
        default: fail("asked for a container where a value was encoded", at: key)
        }
        return encoder
    }

    func openingElement() -> StoredValueEncoder {
        becomeTree()
        let tree = writableTree
        tree.elements.append(.nilMarker)
        return opening(.index(tree.elements.count - 1), key: IndexKey(tree.elements.count - 1))
    }

    /// Inserts an entry. It replaces a container that is open under its key, as in JSON.
    func put(_ node: PropertyList, forKey key: some CodingKey) {
        let tree = writableTree
        if trace != nil, key.isData { tree.hasDynamicKeys = true }
        if !tree.open.isEmpty, let index = tree.indexOfOpenEntry(key) { tree.open.remove(at: index).encoder.close() }
        put(node, named: key.stringValue)
    }

    func put(_ node: PropertyList, named name: String) {
        let tree = writableTree
        let count = tree.entries.count
        // The subscript with a default keeps the key of an existing entry.
        tree.entries[name, default: .nilMarker] = node
        if tree.entries.count == count { checkBytes(of: name) }
    }

    /// Records a failure if the entry with this name was created for a key with different bytes.
    func checkBytes(of name: String) {
        let entries = writableTree.entries
        guard let index = entries.index(forKey: name), !entries[index].key.hasSameBytes(as: name) else { return }
        fail("two keys of one container are the same text in different Unicode forms")
    }
}
