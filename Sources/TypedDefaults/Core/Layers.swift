import SettingsFile

// Values above and below the stored ones
// ======================================
//
// Above: the value of a layer, such as a launch argument. Each slot has its own, because the slot's
// type decides whether the layer's value is valid. Whatever is stored, a read returns the layer's
// value, observers receive it as the value, and an update neither reads nor stores it.
//
// Below: a fallback value of the backend, such as one that was registered with `UserDefaults`. The
// backend returns it for a key that has no stored value. Reads need not distinguish the two, but
// code that asks whether a value is stored must.
//
// No other part of the core knows about layers or fallback values.

/// The layers above the stored values, in their order. An object, so that its identity shows
/// whether other layers were set.
final class Layers: Sendable {
    let values: [[ByteString: PropertyList]]

    init(_ values: [[ByteString: PropertyList]] = []) { self.values = values }

    /// Returns the layers' value for a slot, and an error if a layer has a value that is not of the
    /// slot's type.
    ///
    /// Called under no lock, because it runs conversions.
    func value(of slot: Slot) -> (value: LayeredValue, refusal: DefaultsError?) {
        var layered = LayeredValue()
        var refusal: DefaultsError?
        for values in values {
            guard let found = values[ByteString(slot.key)] else { continue }
            do throws(DefaultsError) {
                layered.value = try slot.storedForm(found).get()
                break
            } catch {
                (layered.refused, refusal) = (layered.refused ?? found, refusal ?? error)
            }
        }
        return (layered, refusal)
    }
}

/// The layers' value for a slot.
struct LayeredValue {
    /// The value, in the form in which it would be stored.
    fileprivate(set) var value: PropertyList?
    /// The layer's raw value, if it does not have the slot's type.
    fileprivate var refused: PropertyList?

    /// Whether a value of another type was reported.
    var isReported: Bool { refused != nil }
}

// Called while the lock of the suite is held.
extension Slot {
    /// Whether a layer has a value, which then hides the stored one.
    var isCovered: Bool { state.layer.value != nil }

    /// The effective value, as observers know it.
    var known: Known { state.layer.value.map { .value(.tree($0)) } ?? state.entry?.known ?? .nothing }

    /// Replaces the layers' value.
    ///
    /// - Returns: Whether there is a refused value that differs from the previous one, so that it
    ///   must be reported.
    func setLayer(_ new: LayeredValue, isBypassed: Bool) -> Bool {
        forget()
        state.isBypassed = isBypassed || new.value != nil
        let isNew = new.refused != nil && new.refused != state.layer.refused
        state.layer = LayeredValue(value: new.value, refused: new.refused ?? state.layer.refused)
        return isNew
    }
}

extension SuiteCore {
    var layers: Layers { state.withLock { $0.layers } }

    func setLayers(_ layers: Layers) {
        do throws(DefaultsError) { try NotificationDepth.check() } catch { return report(error) }
        // A slot that is created from now on gets its value from the new layers.
        let slots = state.withLock { state in
            state.layers = layers
            return state.allSlots
        }
        let values = slots.map { (slot: $0, value: layers.value(of: $0)) }
        let refusals = state.withLock { state -> [DefaultsError] in
            // Otherwise, the thread that has set other layers since then does the rest.
            guard state.layers === layers else { return [] }
            return values.compactMap { slot, value in
                state.setLayer(value.value, of: slot) ? value.refusal : nil
            }
        }
        for refusal in refusals { report(refusal) }
        deliver()
    }

    /// The value of a layer, decoded; `missing` if no layer has one.
    func layered(_ slot: Slot) -> Slot.Content {
        slot.decode(state.withLock { _ in slot.state.layer.value }.map(StoredValue.tree))
    }

    /// The effective content: the layer's value or, without one, the stored value.
    func current(_ slot: Slot) throws(DefaultsError) -> Slot.Content {
        // Even after a failure there may be external changes.
        defer { deliver() }
        let layered = layered(slot)
        guard case .missing = layered else { return layered }
        return try stored(slot)
    }

    /// Returns whether anything is stored under a key, readable or not.
    func isStored(_ key: String) throws(DefaultsError) -> Bool {
        hasFallbackValues ? try backend.isStored(key) : try known(key) != .nothing
    }

    /// Whether the backend may return a value that is not stored.
    var hasFallbackValues: Bool { traits.hasFallbackValues }

    /// Returns whether a value that the backend returns is a fallback value.
    func isFallback(_ key: String) throws(DefaultsError) -> Bool {
        hasFallbackValues ? try !backend.isStored(key) : false
    }

    /// Returns the backend's value for a key that was removed.
    func fallback(_ key: String) -> StoredValue? { hasFallbackValues ? try? storedValue(forKey: key) : nil }

    /// Makes all slots check for a suite that stands in for this one before they return a value
    /// that they have seen.
    func bypassSeenValues() {
        state.withLock { state in
            guard !state.isBypassed else { return }
            state.isBypassed = true
            for slot in state.allSlots {
                // The result of a read in progress must not be kept, because the read has not seen
                // this flag.
                slot.forget()
                slot.state.isBypassed = true
            }
        }
    }
}

extension SuiteCore.State {
    /// Replaces the layers' value for a slot, and queues events if that changes the effective
    /// value.
    ///
    /// - Returns: Whether a refused value must be reported.
    fileprivate mutating func setLayer(_ layer: LayeredValue, of slot: Slot) -> Bool {
        let old = slot.known
        let isReportDue = slot.setLayer(layer, isBypassed: isBypassed)
        let new = slot.known
        guard old != new else { return isReportDue }
        let depth = NotificationDepth.current + 1
        if slot.state.isTracked { queue(.trackedChange(slot), depth) }
        queueChange(of: slot, old, new, .local, depth)
        return isReportDue
    }
}
