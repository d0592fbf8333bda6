/// A change of a slot's value.
struct SlotChange: Sendable {
    let old: ChangeContent
    let new: ChangeContent
    let kind: ChangeKind
    let origin: ChangeOrigin
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
        case .stored(let value): value.box
        }
    }
}

/// A stored value that is decoded when it is first asked for, because many observers ask for one of
/// the values of a change or for none.
final class ChangedValue: Sendable {
    let stored: StoredValue
    private let slot: Slot
    private let core: SuiteCore
    /// Whether the failure handler receives the error if the value cannot be read.
    private let isReported: Bool
    // Safe: accessed only with the lock of the observers held. That lock is free after a fork.
    private nonisolated(unsafe) var content = Slot.Content.notDecoded

    init(_ stored: StoredValue, of slot: Slot, in core: SuiteCore, isReported: Bool) {
        (self.stored, self.slot, self.core, self.isReported) = (stored, slot, core, isReported)
    }

    /// A ``Box`` of the value; `nil` if it cannot be read.
    var box: AnyBox? {
        var content = core.withObservers { _ in self.content }
        if case .notDecoded = content {
            let decoded = slot.decode(stored)
            // Two threads may ask at once. All readers get the same value.
            content = core.withObservers { _ in
                if case .notDecoded = self.content { self.content = decoded }
                return self.content
            }
            if isReported, case .failure(let error) = decoded { core.reportOnce(error, of: slot, stored: stored) }
        }
        // Safe: all boxes of decoded values are of this class.
        return if case .value(let box) = content { unsafeDowncast(box, to: AnyBox.self) } else { nil }
    }
}
