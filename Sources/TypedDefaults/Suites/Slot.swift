import Observation
import SettingsFile

/// The cache of one key as one type in one suite: the stored value and its decoded value.
///
/// Not generic, since all but the conversion itself is the same for every type, and generic code
/// that cannot be specialised for its caller is slow.
final class Slot: ForkLock {
    /// The result of decoding a stored value.
    enum Content: Sendable {
        case notDecoded
        case missing
        /// A `Box` of the slot's type.
        case value(any AnyObject & Sendable)
        case failure(DefaultsError)
    }

    // An object, so that what a slot knows stays small to copy.
    final class Report: Sendable {
        let failure: DefaultsError
        let stored: PropertyList?

        init(_ failure: DefaultsError, of stored: PropertyList?) {
            self.failure = failure
            self.stored = stored
        }
    }

    /// What a write has kept of a value that another program stored.
    final class Kept: Sendable {
        let mending: Mending
        init(_ mending: Mending) { self.mending = mending }
    }

    struct Cache {
        /// The stored value when it was last read.
        private(set) var stored: PropertyList?
        /// Whether `stored` is under a former name of the key.
        private(set) var isUnderFormerKey = false
        var content = Content.missing
        /// Whether `stored` holds at that generation of the backend.
        var isKnown = false
        var generation: UInt64?
        /// Whether `stored` was written through this slot, by a type that was seen to read what it
        /// writes.
        private(set) var isRoundTripChecked = false
        /// The entries of `stored` that are not of the slot's type; `nil` if there are none or they
        /// were not looked for.
        fileprivate(set) var kept: Kept?
        fileprivate(set) var isKeptKnown = false
        /// The failure that was reported last, and of which value; nil once another value was read
        /// or written.
        fileprivate(set) var reported: Report?
        /// Grows with each event that makes a read in progress stale.
        var version: UInt = 0
        /// Whether a commit of this key is under way.
        var isCommitting = false
        /// Whether something else may count than what is stored, so that no kept value is returned
        /// at once.
        var isBypassed = false

        mutating func learn(
            _ stored: PropertyList?, isUnderFormerKey: Bool = false, isRoundTripChecked: Bool = false,
            kept: Kept? = nil
        ) {
            self.stored = stored
            self.kept = kept
            isKeptKnown = isRoundTripChecked
            self.isUnderFormerKey = isUnderFormerKey
            self.isRoundTripChecked = isRoundTripChecked
            content = stored == nil ? .missing : .notDecoded
        }

        /// Whether a write must first find out what to keep of `stored`.
        func needsRecording(for new: PropertyList?, _ form: ConversionForm) -> Bool {
            guard !isKeptKnown, let stored, let new else { return false }
            switch (stored, new) {
            case (.dictionary, .dictionary), (.data, .dictionary): return true
            case (.data, .data): return form.kind == .jsonData
            default: return false
            }
        }

        mutating func forget() {
            version &+= 1
            isKnown = false
        }
    }

    let key: String
    /// The names that the key had before, newest first. A value under one of them counts while
    /// there is none under the key. The first write moves it.
    let formerKeys: [String]
    /// The type and the conversion that the slot is for.
    let form: ConversionForm
    /// What counts before what is stored.
    let launchArgument: PropertyList?
    /// Whether there is a launch argument that is not of the slot's type, which was reported.
    private let isArgumentRefused: Bool
    /// Class instances are never kept, because code that received one could change it.
    let keepsValues: Bool
    /// Whether the end of a value can run code, as of a struct that holds an object.
    private let holdsObjects: Bool
    /// A `SlotEncoding` of the slot's type.
    private let encoding: any AnyObject & Sendable
    private let makeBox: @Sendable (PropertyList, DecodingMode) -> Result<any AnyObject & Sendable, DefaultsError>
    /// A `Box` of the change from one stored value to another, and why the new one cannot be read.
    let makeChange:
        @Sendable (PropertyList?, PropertyList?, ChangeOrigin, _ isInitial: Bool) -> (
            any AnyObject & Sendable, DefaultsError?
        )
    /// Returns the slot of the same key and type in another suite.
    let makeSlot: @Sendable (DefaultsSuite) -> Slot
    private let cache: Locked<Cache>
    private let registrar = ObservationRegistrar()
    /// What the registrar knows the value by, an object of this slot's own.
    private let keyPath = TellingReference<KeyPath<Slot, Never?>>(makeKeyPath())

    /// Whether the slot counts as tracked even if no reference to its key path is found.
    private let isAlwaysTracked: Bool

    init<Value>(
        _ key: String, _ conversion: Conversion<Value>, formerKeys: [String], launchArgument: PropertyList?,
        isArgumentRefused: Bool, location: String?, frameworkKeepsKeyPaths: Bool = Slot.frameworkKeepsKeyPaths
    ) {
        let name = SettingName(key: key, location: location)
        self.key = key
        self.formerKeys = formerKeys
        isAlwaysTracked = !frameworkKeepsKeyPaths
        form = conversion.form
        self.launchArgument = launchArgument
        self.isArgumentRefused = isArgumentRefused
        let type = (Value.self as? any AnyOptional.Type)?.wrappedType ?? Value.self
        keepsValues = !(type is AnyClass)
        holdsObjects = !_isPOD(Value.self)
        encoding = SlotEncoding(conversion)
        makeBox = conversion.decodeBox
        makeSlot = { suite in
            suite.core.slot(
                forKey: suite.withPrefix(key), conversion, formerKeys: formerKeys.map(suite.withPrefix))
        }
        var cache = Cache()
        cache.isBypassed = launchArgument != nil
        self.cache = Locked(cache)
        makeChange = { old, new, origin, isInitial in
            // What `get` returns: while there is a launch argument, that one.
            let isArgument = launchArgument != nil
            let new = launchArgument ?? new
            func value(_ stored: PropertyList?) -> Result<Value?, DefaultsError> {
                Result { () throws(DefaultsError) in
                    if let stored { try conversion.decode(stored, isArgument ? .argument : .stored) } else { nil }
                }
            }
            let (old, read) = (try? value(old).get(), value(new))
            var failure: DefaultsError?
            if case .failure(let error) = read { failure = error }
            return (
                Box(
                    DefaultChange(
                        oldValue: old ?? nil, newValue: (try? read.get()) ?? nil,
                        kind: isInitial ? .initial : new == nil ? .removed : .set, origin: origin, name: name)), failure
            )
        }
    }

    func decode(_ stored: PropertyList?, asArgument: Bool = false) -> Content {
        guard let stored else { return .missing }
        switch makeBox(stored, asArgument ? .argument : .stored) {
        case .success(let box): return .value(box)
        case .failure(let error): return .failure(error.about(key: key))
        }
    }

    /// Returns what the decoder did about entries of a stored value that the type does not read;
    /// `nil` if it reads each entry.
    func mending(of stored: PropertyList) throws(DefaultsError) -> Mending? {
        do throws(DefaultsError) {
            let box = try makeBox(stored, .recording).get()
            // The value may hold an object whose deinit uses the suite.
            if holdsObjects, AfterUnlock.holdsLock { AfterUnlock.run { withExtendedLifetime(box) {} } }
            return Self.mending(in: box)
        } catch {
            throw error.about(key: key)
        }
    }

    static func mending(in box: any AnyObject & Sendable) -> Mending? {
        // Safe: all boxes of decoded values are of this class.
        unsafeDowncast(box, to: AnyBox.self).mending
    }

    /// Returns what to store for a value of the slot's type, which reads back what it wrote; nil to
    /// remove the key.
    func encode<Value: Sendable>(_ value: Value) throws(DefaultsError) -> PropertyList? {
        // Safe: a slot is found by its type.
        let encoding = unsafeDowncast(encoding, to: SlotEncoding<Value>.self)
        do throws(DefaultsError) {
            return try encoding.encode(value).get()
        } catch {
            throw error.about(key: key)
        }
    }
}

/// How values of a slot's type are encoded.
///
/// A function in an object, because generic code would look up the type of a ``Conversion`` at each
/// call.
private final class SlotEncoding<Value: Sendable>: Sendable {
    let encode: @Sendable (Value) -> Result<PropertyList?, DefaultsError>
    init(_ conversion: Conversion<Value>) { encode = conversion.encoding }
}

extension Slot {
    /// The content that is right at that generation of the backend; not decoded if none is known to
    /// be.
    @inline(__always)
    func kept(at generation: UInt64?) -> Content {
        guard let generation else { return .notDecoded }
        return cache.withLock { cache in
            cache.isKnown && cache.generation == generation && !cache.isBypassed
                ? cache.content : .notDecoded
        }
    }

    /// What is known, right at that generation if it is known at all: whatever changed until then
    /// has been forgotten.
    func known(at generation: UInt64?) -> Cache {
        cache.withLock { cache in
            if generation == nil { cache.isKnown = false }
            cache.generation = generation
            return cache
        }
    }

    /// What is known of a write when the suite's writer lock is taken.
    enum Write {
        /// The commit has begun. Balance this with ``keepOwn(_:at:keeping:)`` or ``endCommit()``.
        case begun
        /// The stored value is equal to the new one.
        case equal
        /// The stored value must be read first, or has entries that may have to be kept.
        case undecided
    }

    /// Returns what is known, and begins a commit of this key if that is enough.
    func beginCommit(of new: PropertyList?, at generation: UInt64?) -> (Cache, Write) {
        cache.withLock { cache in
            if generation == nil { cache.isKnown = false }
            cache.generation = generation
            let old = cache
            guard cache.isKnown else { return (old, .undecided) }
            if cache.stored == new { return (old, .equal) }
            guard cache.kept == nil, !cache.needsRecording(for: new, form) else { return (old, .undecided) }
            cache.forget()
            cache.isCommitting = true
            return (old, .begun)
        }
    }

    /// Keeps the result of a read, unless something happened since it began.
    func keep(_ read: Cache) {
        let old = cache.withLock { cache -> Replaced? in
            guard cache.version == read.version, !cache.isCommitting else { return nil }
            let old = (cache.stored, cache.content)
            // The failure may have been reported during this read.
            let reported = cache.reported
            cache = read
            cache.isKnown = true
            switch read.content {
            case .value(let box): cache.reported = Self.mending(in: box) == nil ? nil : reported
            case .missing: cache.reported = nil
            case .notDecoded, .failure: cache.reported = reported
            }
            if !keepsValues, case .value = read.content { cache.content = .notDecoded }
            return old
        }
        release(old)
    }

    /// A value to release after unlocking.
    typealias Replaced = (stored: PropertyList?, content: Content)

    /// Keeps what the decoder found in a value that was read, unless something happened since.
    func keep(_ mending: Mending?, of read: Cache) {
        cache.withLock { cache in
            guard cache.version == read.version, cache.isKnown, cache.stored == read.stored else { return }
            cache.kept = mending.map(Kept.init)
            cache.isKeptKnown = true
        }
    }

    /// Takes over what was just committed through this slot, and ends the commit.
    ///
    /// - Returns: What to pass to ``release(_:)`` when no lock is held.
    func keepOwn(_ stored: PropertyList?, at generation: UInt64?, keeping kept: Kept? = nil) -> Replaced {
        cache.withLock { cache in
            let old = (cache.stored, cache.content)
            cache.version &+= 1
            cache.learn(stored, isRoundTripChecked: true, kept: kept)
            if kept == nil { cache.reported = nil }
            cache.isKnown = true
            cache.isCommitting = false
            cache.generation = generation
            return old
        }
    }

    /// Releases a replaced value after the slot's lock and, if this thread is writing, after its
    /// write: the value may hold an object whose deinit uses the suite.
    func release(_ old: Replaced?) {
        guard holdsObjects, case .value(let box)? = old?.content, AfterUnlock.holdsLock else { return }
        AfterUnlock.run { withExtendedLifetime(box) {} }
    }

    /// From now on every read asks the suite.
    func bypassKeptValues() {
        cache.withLock { cache in
            // A read that is under way does not keep its result, which lacks the mark.
            cache.forget()
            cache.isBypassed = true
        }
    }

    /// Notes that other code may have changed the value.
    func forget() {
        cache.withLock { $0.forget() }
    }

    /// A commit of this key begins: nothing that is read until it ends is kept.
    func markCommitting() {
        cache.withLock { cache in
            cache.forget()
            cache.isCommitting = true
        }
    }

    /// The commit has ended.
    func endCommit() {
        cache.withLock { cache in
            cache.forget()
            cache.isCommitting = false
        }
    }

    /// The cache stays consistent while the process is forked.
    func lock() { cache.lock() }
    func unlock() { cache.unlock() }

    /// Ends a commit that another thread of the parent was making.
    func unlockInChild() {
        cache.withHeldLock { cache in
            guard cache.isCommitting else { return }
            cache.forget()
            cache.isCommitting = false
        }
        cache.unlock()
    }

    /// Whether a slot that is made again later is no different: one that reported a failure would
    /// report it again, and one that is tracked would not be found.
    var canBeMadeAgain: Bool {
        !isTracked && formerKeys.isEmpty && !isArgumentRefused && cache.withLock { $0.reported == nil }
    }

    /// Whether a failure to read was not reported yet; from now on it was.
    ///
    /// - Parameters:
    ///   - stored: What could not be read; nil for what was looked at last.
    ///   - isValueExact: False over a backend that tells no changes, where the same value may read
    ///     a little different once it is saved.
    func takeReport(_ failure: DefaultsError, of stored: PropertyList?, isValueExact: Bool) -> Bool {
        let (isNew, old) = cache.withLock { cache -> (Bool, Report?) in
            let old = cache.reported
            let new = Report(failure, of: stored ?? cache.stored)
            if let old, old.stored == new.stored || (!isValueExact && old.failure == failure) { return (false, old) }
            cache.reported = new
            return (true, old)
        }
        withExtendedLifetime(old) {}
        return isNew
    }
}

// For the Observation framework a slot is an object with one property.
extension Slot: Observable {
    private subscript(number: Int) -> Never? { nil }

    private static func makeKeyPath() -> KeyPath<Slot, Never?> {
        // A new object at each call, because of its argument.
        let number = 0
        return \Slot[number]
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
    var isTracked: Bool { keyPath.isHeldByOthers || isAlwaysTracked }

    /// Whether the framework keeps the key path of a property that it waits for.
    static let frameworkKeepsKeyPaths = TrackingProbe().keepsKeyPath

    /// The value has changed.
    func noteChange() { keyPath.withObject { registrar.withMutation(of: self, keyPath: $0) {} } }
}

/// An object with one property, to find out how the Observation framework treats its key path.
private final class TrackingProbe: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let keyPath = TellingReference<KeyPath<TrackingProbe, Never?>>(makeKeyPath())
    private subscript(number: Int) -> Never? { nil }

    private static func makeKeyPath() -> KeyPath<TrackingProbe, Never?> {
        // A new object at each call, because of its argument.
        let number = 0
        return \TrackingProbe[number]
    }

    var keepsKeyPath: Bool {
        withObservationTracking {
            keyPath.withObject { registrar.access(self, keyPath: $0) }
        } onChange: {
        }
        defer { keyPath.withObject { registrar.withMutation(of: self, keyPath: $0) {} } }
        return keyPath.isHeldByOthers
    }
}

/// Retains an object, and knows whether other code does.
private final class TellingReference<Object: AnyObject>: Sendable {
    // Safe: released by `deinit` only. To use the object costs no reference so.
    private nonisolated(unsafe) let unmanaged: Unmanaged<Object>

    init(_ object: Object) { unmanaged = .passRetained(object) }
    deinit { unmanaged.release() }

    @inline(__always)
    func withObject(_ body: (Object) -> Void) { unmanaged._withUnsafeGuaranteedRef { body($0) } }

    @inline(__always)
    var isHeldByOthers: Bool {
        // The question counts as a write of the variable that it is asked of. So each thread has
        // its own, which holds no reference.
        var copy = unmanaged
        return withUnsafeMutablePointer(to: &copy) { copy in
            copy.withMemoryRebound(to: Object.self, capacity: 1) { !isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}

extension Slot: CustomReflectable {
    /// Empty: what is stored never shows in a `dump`.
    var customMirror: Mirror { Mirror(self, children: []) }
}
