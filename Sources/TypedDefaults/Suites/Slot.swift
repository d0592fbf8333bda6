/// What one suite knows of one key, whatever the type. All methods are called with the suite's lock held.
protocol KeySlot: AnyObject, Sendable {
    /// Somebody else may have changed the value.
    func forget()
    /// A commit of this key begins: nothing that is read until it ends is kept.
    func unsettle()
    /// The commit has ended.
    func settle()
}

/// What one suite knows of one key as one type: the stored value and what it was decoded to.
final class Slot<Value: Sendable>: Sendable {
    /// What a stored value comes to; nil for none.
    typealias Outcome = Result<Value?, DefaultsError>

    struct Knowledge {
        /// What is stored, or was when last looked at.
        private(set) var stored: PropertyList?
        /// What `stored` comes to; nil if it was not decoded yet.
        var outcome: Outcome?
        /// Whether `stored` holds since the suite last caught up.
        var isKnown = false
        /// Whether `stored` was written through this slot, by a type that was seen to read what it writes.
        private(set) var isOwn = false
        /// Whether the failure handler has heard of the failure.
        var isReported = false
        /// Grows with each event that makes a look under way stale.
        var version: UInt = 0
        /// Whether a commit of this key is under way.
        var isUnsettled = false

        mutating func learn(_ stored: PropertyList?, isOwn: Bool = false) {
            self.stored = stored
            self.isOwn = isOwn
            outcome = nil
            isReported = false
        }
    }

    let key: String
    let conversion: Conversion<Value>
    /// What counts before what is stored, if the type can be read from it.
    let launchArgument: PropertyList?
    /// Class instances are never kept: whoever was handed one could change it.
    private let keepsValues: Bool
    // Safe: touched only with the lock of the suite held.
    nonisolated(unsafe) var knowledge = Knowledge()

    init(_ key: String, _ conversion: Conversion<Value>, launchArgument: PropertyList?) {
        self.key = key
        self.conversion = conversion
        self.launchArgument = launchArgument
        let type = (Value.self as? any AnyOptional.Type)?.wrappedType ?? Value.self
        keepsValues = !(type is AnyClass)
    }

    func decode(_ stored: PropertyList?) -> Outcome {
        guard let stored else { return .success(nil) }
        do throws(DefaultsError) {
            return .success(try conversion.decode(stored, false))
        } catch {
            return .failure(error.about(key: key))
        }
    }

    /// Takes over what a look found, unless something happened since it began. Called with the suite's lock held.
    func keep(_ look: Knowledge) {
        guard knowledge.version == look.version, !knowledge.isUnsettled else { return }
        knowledge = look
        knowledge.isKnown = true
        if !keepsValues, case .success(_?) = look.outcome { knowledge.outcome = nil }
    }

    /// Takes over what was just committed through this slot. Called with the suite's lock held.
    func keepOwn(_ stored: PropertyList?) {
        knowledge.version &+= 1
        knowledge.learn(stored, isOwn: true)
        knowledge.isKnown = true
    }
}

extension Slot: KeySlot {
    func forget() {
        knowledge.version &+= 1
        knowledge.isKnown = false
    }

    func unsettle() {
        forget()
        knowledge.isUnsettled = true
    }

    func settle() {
        forget()
        knowledge.isUnsettled = false
    }
}

extension Slot: CustomReflectable {
    /// Empty: what is stored never shows in a `dump`.
    var customMirror: Mirror { Mirror(self, children: []) }
}
