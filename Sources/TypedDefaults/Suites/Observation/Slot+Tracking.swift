import Observation

/// The argument and the value of the property that the Observation framework knows.
///
/// A type of this module, because creating a key path looks up the conformances of other types at
/// each call. It is not empty, because a key path without the bytes of an argument is created once.
struct ObservedProperty: Hashable {
    private let content: UInt8 = 0
}

// For the Observation framework a slot is an object with one property.
extension Slot: Observable {
    private subscript(argument: ObservedProperty) -> ObservedProperty { argument }

    static func makeKeyPath() -> KeyPath<Slot, ObservedProperty> {
        // Because of the argument, each call creates a new object.
        let argument = ObservedProperty()
        return \Slot[argument]
    }

    /// Notes a read of the value, so that the Observation framework reports its next change.
    ///
    /// - Returns: Whether it is tracked.
    @inline(__always)
    func noteAccess() -> Bool {
        keyPath.withObject { registrar.access(self, keyPath: $0) }
        return isTracked
    }

    /// Whether the Observation framework waits for the next change.
    ///
    /// The framework has no API that answers this. It keeps the key path of each property that it
    /// waits for, and no other code has a reference to this one, so the reference count answers it.
    /// That is a detail of the framework. Where it does not hold, every slot counts as tracked: its
    /// key is followed for as long as the slot lives, which costs time but loses no change.
    var isTracked: Bool { keyPath.isRetainedElsewhere || isAlwaysTracked }

    /// Whether the framework keeps the key path of a property that it waits for.
    static let frameworkKeepsKeyPaths = TrackingProbe().keepsKeyPath

    /// Notifies the Observation framework that the value has changed.
    func noteChange() { keyPath.withObject { registrar.withMutation(of: self, keyPath: $0) {} } }
}

/// An object with one property, to find out how the Observation framework treats its key path.
private final class TrackingProbe: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let keyPath = RetainCheckingReference<KeyPath<TrackingProbe, ObservedProperty>>(makeKeyPath())
    private subscript(argument: ObservedProperty) -> ObservedProperty { argument }

    private static func makeKeyPath() -> KeyPath<TrackingProbe, ObservedProperty> {
        // Because of the argument, each call creates a new object.
        let argument = ObservedProperty()
        return \TrackingProbe[argument]
    }

    var keepsKeyPath: Bool {
        withObservationTracking {
            keyPath.withObject { registrar.access(self, keyPath: $0) }
        } onChange: {
        }
        defer { keyPath.withObject { registrar.withMutation(of: self, keyPath: $0) {} } }
        return keyPath.isRetainedElsewhere
    }
}

/// A strong reference that can check whether other code retains the same object.
final class RetainCheckingReference<Object: AnyObject>: Sendable {
    // Safe: only `deinit` releases the object. An unmanaged reference is used without retaining it.
    private nonisolated(unsafe) let unmanaged: Unmanaged<Object>

    init(_ object: Object) { unmanaged = .passRetained(object) }
    deinit { unmanaged.release() }

    @inline(__always)
    func withObject(_ body: (Object) -> Void) { unmanaged._withUnsafeGuaranteedRef { body($0) } }

    @inline(__always)
    var isRetainedElsewhere: Bool {
        // `isKnownUniquelyReferenced` counts as a write to its argument, so each call uses a copy.
        // The copy does not retain the object.
        var copy = unmanaged
        return withUnsafeMutablePointer(to: &copy) { copy in
            copy.withMemoryRebound(to: Object.self, capacity: 1) { !isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}
