import SettingsFile

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// Values before and behind the stored ones
// ========================================
//
// Before: the value of a layer such as the launch arguments. Whatever is stored, a read returns the
// layer's value, observers receive it as the value, and an update neither reads nor stores it.
//
// Behind: the value of a layer such as the defaults of a customer. It counts while no value is
// stored, ahead of the default of the declaration. An update begins with it.
//
// Of a config, a layer gives single properties. Those behind take the place of missing ones, so
// they are part of what a slot has seen, and of each change. Those before are put over that by
// reads, and an edit in place leaves out those that it did not change.
//
// Each slot has its own values of the layers, because the slot's type decides whether a layer's
// value is valid. If it is not, the next layer counts. A slot keeps these values, because observers
// receive effective values: these are compared under the lock of the suite, where neither closures
// of layers nor conversions run.
//
// A backend may have fallback values as well, such as those that were registered with
// `UserDefaults`. The backend returns one for a key that has no stored value. Reads need not
// distinguish the two, but code that asks whether a value is stored must.

/// The layers of a suite, in their order. An object, so that its identity shows whether other
/// layers were set.
final class Layers: Sendable {
    struct Layer: Sendable {
        let name: String
        /// Returns the value of a key; `nil` for the stored values.
        let value: (@Sendable (_ key: String) -> PropertyList?)?

        static let stored = Layer(name: "stored", value: nil)
    }
    let all: [Layer]

    init(_ all: [Layer] = [.stored]) { self.all = all }

    /// Returns the layers' values for a slot, and the errors of those that are not of its type.
    ///
    /// Called under no lock, because it runs conversions and closures of the program.
    func value(of slot: Slot) -> (value: LayeredValue, refusals: [DefaultsError]) {
        var (layered, refusals, isAfterStored) = (LayeredValue(), [DefaultsError](), false)
        for layer in all {
            guard let value = layer.value else {
                isAfterStored = true
                continue
            }
            let outer = isAfterStored ? layered.behind : layered.before
            guard outer == nil || slot.rule.isConfig, let found = value(slot.key) else { continue }
            let form = slot.layerForm(found, layer.name)
            if !form.refusals.isEmpty { layered.refused.append(found) }
            refusals += form.refusals
            guard let stored = form.stored else { continue }
            let new = LayeredValue.Value(layer: layer.name, stored: stored, size: form.size).under(outer)
            if isAfterStored { layered.behind = new } else { layered.before = new }
        }
        return (layered, refusals)
    }
}

/// The layers' values for a slot.
struct LayeredValue {
    /// An object, so that a slot without layers pays for two pointers only.
    final class Value: Sendable {
        /// The name of the layer.
        let layer: String
        /// The value, in the form in which it would be stored.
        let stored: PropertyList
        /// The number of properties of which the layer gives some; `nil` if the value has none.
        let size: Int?

        init(layer: String, stored: PropertyList, size: Int?) {
            (self.layer, self.stored, self.size) = (layer, stored, size)
        }

        /// The properties of a config; `nil` for a value that is replaced whole.
        var properties: [String: PropertyList]? { size == nil ? nil : stored.entries }
        /// Whether it gives more than some properties.
        var isWhole: Bool { properties.map { $0.count == size } ?? true }
        var found: Found { .value(stored) }

        /// Returns this value of a config with that of a layer before it.
        fileprivate func under(_ outer: Value?) -> Value {
            guard let outer else { return self }
            guard let properties = outer.properties, let others = self.properties else { return outer }
            return Value(layer: outer.layer, stored: .dictionary(others.merging(properties) { $1 }), size: size)
        }
    }
    fileprivate(set) var before: Value?
    fileprivate(set) var behind: Value?
    /// The values that do not have the slot's type.
    fileprivate var refused: [PropertyList] = []

    var isEmpty: Bool { before == nil && behind == nil }
    /// Whether a value of another type was reported.
    var isReported: Bool { !refused.isEmpty }
}

/// Where the value of a setting comes from. See ``UserDefault/source``.
public enum DefaultSource: Hashable, Sendable {
    /// A layer, with its name. See ``DefaultsSuite/Layer``.
    case layer(String)
    /// The stored value.
    case stored
    /// The default of the declaration, or one that was registered with `UserDefaults`: no value is
    /// stored, or none that can be read.
    case defaultValue
}

/// The form in which the value of a layer would be stored.
struct LayerForm {
    /// The value; `nil` if the layer has none of the type.
    var stored: PropertyList?
    /// The number of properties of which the layer gives some; `nil` if the value has none.
    var size: Int?
    /// Why it, or a property of it, is ignored.
    var refusals: [DefaultsError] = []
}

extension Conversion {
    /// Returns the form in which the value of a layer would be stored. Of a config, these are the
    /// properties that the layer has.
    ///
    /// Text is converted by the type: a number for an `Int`, JSON for a struct.
    func layerForm(_ found: PropertyList, key: String, layer: String) -> LayerForm {
        var tree = found
        if case .string(let text) = found, defaults != nil, let json = try? PropertyList(json: Data(text.utf8)) {
            tree = json
        }
        guard let whole = defaults?.whole?.entries, kind != .jsonData, let entries = tree.entries else {
            do throws(DefaultsError) { return LayerForm(stored: try form(of: found, key, layer)) } catch {
                return LayerForm(refusals: [error])
            }
        }
        // What decoding makes of a default is not given by the layer.
        let absent = (try? form(of: .dictionary([:]), key, layer))?.entries ?? whole
        /// Returns the properties, in the form in which they would be stored.
        func properties(_ entries: [String: PropertyList]) throws(DefaultsError) -> LayerForm {
            let form = try form(of: .dictionary(entries), key, layer)?.entries ?? [:]
            // A type may read a property under an older name.
            let given = form.filter { entries[$0.key] != nil || absent[$0.key] != $0.value }
            return LayerForm(
                stored: given.isEmpty ? nil : .dictionary(given),
                // The cases of an enum are no properties.
                size: given.keys.allSatisfy { whole[$0] != nil } ? form.count : nil)
        }
        if let form = try? properties(entries) { return form }
        // One of the wrong type gives way alone.
        var (kept, refusals) = ([String: PropertyList](), [DefaultsError]())
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
            do throws(DefaultsError) {
                _ = try properties([name: entry])
                kept[name] = entry
            } catch { refusals.append(error) }
        }
        var result = LayerForm()
        do throws(DefaultsError) { result = try properties(kept) } catch { refusals.append(error) }
        result.refusals = refusals
        return result
    }

    private func form(of found: PropertyList, _ key: String, _ layer: String) throws(DefaultsError) -> PropertyList? {
        let value: Value
        do throws(DefaultsError) {
            do throws(DefaultsError) { value = try decode(found, .argument) } catch {
                guard case .string(let text) = found, let json = try? PropertyList(json: Data(text.utf8)) else {
                    throw error
                }
                value = try decode(json, .argument)
            }
        } catch {
            throw DefaultsError(
                .unreadable, key: key, type: "\(Value.self)", path: error.path,
                reason:
                    "the value of the layer “\(layer)” is ignored: \(error.reason.replacing("stored", with: "given"))")
        }
        do throws(DefaultsError) { return try encode(value) } catch { throw error.about(key: key) }
    }
}

// Called while the lock of the suite is held.
extension Slot {
    /// Returns the effective value for a stored one.
    func effective(_ stored: Found?) -> Found {
        let (before, behind) = (state.layer.before, state.layer.behind)
        if let before, before.isWhole { return before.found }
        if before?.properties ?? behind?.properties != nil, let entries = stored.entries {
            // Three places may give properties.
            let filled = entries.merging(behind?.properties ?? [:]) { stored, _ in stored }
            return .value(.dictionary(filled.merging(before?.properties ?? [:]) { $1 }))
        }
        if let before { return before.found }
        if let stored, stored != .nothing, stored != .unavailable { return stored }
        return behind?.found ?? .nothing
    }
}

extension Found? {
    /// The properties of a config, if those of layers can be added to them.
    fileprivate var entries: [String: PropertyList]? {
        switch self {
        case .value(let value)?: value.entries
        case nil, .nothing, .unavailable: [:]
        case .unreadable: nil
        }
    }
}

extension SuiteCore {
    var layers: Layers { state.withLock { $0.layers } }

    func setLayers(_ layers: Layers) {
        do throws(DefaultsError) { try NotificationDepth.check() } catch { return report(error) }
        typealias LayeredSlot = (slot: Slot, new: (value: LayeredValue, refusals: [DefaultsError]))
        var values: [ObjectIdentifier: LayeredSlot] = [:]
        var isSet = false
        while !isSet {
            // Under no lock, so more slots may be added.
            for slot in state.withLock({ $0.allSlots }) where values[ObjectIdentifier(slot)] == nil {
                values[ObjectIdentifier(slot)] = (slot, layers.value(of: slot))
            }
            let (old, refusals, outcome) = state.withLock { state -> (Layers?, [DefaultsError], State.Outcome) in
                var (refusals, outcome) = ([DefaultsError](), State.Outcome())
                let all = state.allSlots.map { values[ObjectIdentifier($0)] }
                guard !all.contains(where: { $0 == nil }) else { return (nil, refusals, outcome) }
                for case (let slot, let new)? in all where state.setLayer(new.value, of: slot, &outcome) {
                    refusals += new.refusals
                }
                state.layerChanges += 1
                state.noteSlots(.local)
                return (exchange(&state.layers, with: layers), refusals, outcome)
            }
            isSet = old != nil
            finish(outcome)
            for refusal in refusals { report(refusal) }
        }
        deliver()
    }

    func layered(_ slot: Slot) -> LayeredValue { state.withLock { _ in slot.state.layer } }

    /// Returns the value of a layer behind the stored ones.
    func behind<Value>(_ key: String, _ conversion: Conversion<Value>) -> LayeredValue.Value? {
        // Without such a layer, no slot is created.
        guard layers.all.last?.value != nil else { return nil }
        return layered(slot(key, conversion)).behind
    }

    /// The effective content: the value of a layer before the stored value, the stored value, or
    /// that of a layer behind it.
    func current(_ slot: Slot) throws(DefaultsError) -> SeenValue.Content {
        // Even after a failure there may be external changes.
        defer { deliver() }
        let layered = layered(slot)
        if let before = layered.before {
            guard !before.isWhole else { return slot.decode(before.stored) }
            // Also reports what cannot be read of it.
            let found = (try? seen(slot)).map { Found($0.stored) }
            if case .value(let shown) = state.withLock({ _ in slot.effective(found) }) {
                // If they break a rule together with the others, those of the layer give way.
                let content = slot.decode(shown)
                if content.failure == nil { return content }
            }
        }
        let stored = try stored(slot)
        guard case .missing = stored, let behind = layered.behind else { return stored }
        return slot.decode(behind.stored)
    }

    /// Returns where the effective value comes from.
    func source(of slot: Slot) throws(DefaultsError) -> DefaultSource {
        defer { deliver() }
        let layered = layered(slot)
        if let before = layered.before, before.isWhole { return .layer(before.layer) }
        if isManaged(slot.key) { return .layer("managed") }
        switch try stored(slot) {
        case .missing:
            guard let behind = layered.behind, behind.isWhole else { return .defaultValue }
            return .layer(behind.layer)
        case .value: return try isRegistered(slot.key) ? .defaultValue : .stored
        case .notDecoded, .failure: return .defaultValue
        }
    }

    /// Returns whether something other than a write decides the value.
    func isManaged(_ slot: Slot) -> Bool { layered(slot).before?.isWhole == true || isManaged(slot.key) }
    func isManaged(_ key: String) -> Bool { (try? backend.layer(of: key)) == .managed }

    /// Returns whether the backend's value, if there is one, is not stored.
    func isRegistered(_ key: String) throws(DefaultsError) -> Bool { try backend.layer(of: key) == .registered }

    /// Returns the value that the backend still has for a key that an edit has removed.
    func registeredValue(after edit: Edit) -> PropertyList? {
        guard edit.value == nil, (try? isRegistered(edit.key)) == true else { return nil }
        return try? backend.value(forKey: edit.key)
    }

    /// Returns whether anything is stored under a key, readable or not.
    func isStored(_ key: String) throws(DefaultsError) -> Bool {
        guard try find(key) != .nothing else { return false }
        return try !isRegistered(key)
    }

    /// Makes all slots check for a suite that stands in for this one before they return a value
    /// that they have seen.
    func bypassSeenValues() {
        state.withLock { state in
            guard !state.isBypassed else { return }
            state.isBypassed = true
            for slot in state.allSlots { slot.state.isBypassed = true }
        }
    }
}

extension SuiteCore.State {
    /// Replaces the layers' values for a slot, and queues an event if that changes the effective
    /// value. The Observation framework is also notified if the value comes from elsewhere.
    ///
    /// - Returns: Whether there are refused values that differ from the previous ones, so that they
    ///   must be reported.
    mutating func setLayer(_ new: LayeredValue, of slot: Slot, _ outcome: inout Outcome) -> Bool {
        let (stored, before) = (slot.state.entry?.stored, slot.state.layer)
        let old = slot.effective(stored)
        slot.state.isBypassed = isBypassed || new.before != nil
        slot.state.layer = new
        if !new.isReported { slot.state.layer.refused = before.refused }
        if slot.isForeign(slot.state.seen) { outcome.old.append(slot.state.seen) }
        slot.state.seen = .unread
        let effective = slot.effective(stored)
        let isFromOther = before.before?.layer != new.before?.layer || before.behind?.layer != new.behind?.layer
        if old != effective || isFromOther, slot.state.takeAccess() { outcome.tracked.append(slot) }
        if old != effective { queueChange(of: slot, old, effective, effective == .nothing ? .removed : .set, .local) }
        return new.isReported && new.refused != before.refused
    }
}
