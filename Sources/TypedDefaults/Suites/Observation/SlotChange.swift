/// A change of a slot's value.
struct SlotChange: Sendable {
    let old: ChangeContent
    let new: ChangeContent
    let kind: ChangeKind
    let origin: ChangeOrigin

    /// The change with the values themselves where they have been decoded.
    var settled: SlotChange { SlotChange(old: old.settled, new: new.settled, kind: kind, origin: origin) }
}

/// One of the values of a change.
enum ChangeContent: Sendable {
    case none
    /// A ``Box`` of the value.
    case box(AnyBox)
    case stored(ChangedValue)

    /// A ``Box`` of the value; `nil` if there is none or it cannot be read.
    var box: AnyBox? {
        switch self {
        case .none: nil
        case .box(let box): box
        case .stored(let value): value.decoded.box
        }
    }

    /// The value itself, decoded if necessary.
    var decoded: ChangeContent { box.map(ChangeContent.box) ?? .none }

    /// The value itself if it has been decoded.
    fileprivate var settled: ChangeContent {
        guard case .stored(let value) = self else { return self }
        let known = value.known
        if case .notDecoded = known { return self }
        return known.box.map(ChangeContent.box) ?? .none
    }
}

/// A stored value that is decoded when it is first asked for, because many observers ask for one of
/// the values of a change or for none.
///
/// Programs may keep changes, so this holds nothing of the suite but the slot, and asking calls no
/// failure handler: the delivery reports a failure when the observers have returned.
final class ChangedValue: Sendable {
    private let slot: Slot
    // Safe: both are accessed only with the lock of the slot held. That lock is free after a fork.
    /// The stored value until it is decoded.
    @exclusivity(unchecked)
    private nonisolated(unsafe) var stored: StoredValue?
    @exclusivity(unchecked)
    private nonisolated(unsafe) var content = Slot.Content.notDecoded

    init(_ stored: StoredValue, of slot: Slot) { (self.stored, self.slot) = (stored, slot) }

    /// The result of decoding it; `notDecoded` if it has not been asked for.
    var known: Slot.Content { slot.withLock { content } }

    fileprivate var decoded: Slot.Content {
        let (stored, known) = slot.withLock { (self.stored, content) }
        guard let stored else { return known }
        let decoded = slot.decode(stored)
        return slot.withLock { () -> Slot.Content in
            // Two threads may have asked at once. All get the same value.
            if case .notDecoded = content { (content, self.stored) = (decoded, nil) }
            return content
        }
    }
}

extension Slot.Content {
    fileprivate var box: AnyBox? {
        // Safe: all boxes of decoded values are of this class.
        if case .value(let box) = self { unsafeDowncast(box, to: AnyBox.self) } else { nil }
    }
}
