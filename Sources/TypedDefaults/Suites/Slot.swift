import Observation
import SettingsFile

/// The cache of one key as one type in one suite: the stored value and its decoded value.
///
/// This class is not generic: only the conversion depends on the type, and generic code that is not
/// specialized is slow.
final class Slot: ForkLock {
    /// The result of decoding a stored value.
    enum Content: Sendable {
        case notDecoded
        case missing
        /// A `Box` of the slot's type.
        case value(any AnyObject & Sendable)
        case failure(DefaultsError)
    }

    // A failure that was reported, and the value that caused it. A class, so that `Cache` is cheap
    // to copy.
    final class Report: Sendable {
        let failure: DefaultsError
        let stored: StoredValue?

        init(_ failure: DefaultsError, of stored: StoredValue?) {
            self.failure = failure
            self.stored = stored
        }
    }

    /// The parts of a value from another program that a write has kept.
    final class Kept: Sendable {
        let recovery: DecodingRecovery
        init(_ recovery: DecodingRecovery) { self.recovery = recovery }
    }

    /// Whether the cached value is the stored one.
    enum Knowledge {
        /// The stored value must be read.
        case none
        /// A commit of this key is under way. Until it ends, reads cache nothing.
        case committing
        /// The value was the stored one at this generation of the backend; `nil` for a backend
        /// without generations, where it may have changed since.
        case current(generation: UInt64?)
    }

    /// The entries of the stored value that the slot's type does not read.
    enum UnreadEntries {
        case unknown, none
        /// Those that a write has kept.
        case kept(Kept)
    }

    struct Cache {
        /// The stored value when it was last read.
        private(set) var stored: StoredValue?
        /// Whether `stored` is under a former name of the key.
        private(set) var isUnderFormerKey = false
        var content = Content.missing
        var knowledge = Knowledge.none
        fileprivate(set) var unread = UnreadEntries.unknown
        /// The failure that was reported last; `nil` once another value was read or written.
        fileprivate(set) var reported: Report?
        /// Incremented by each event that makes a read in progress stale.
        var version: UInt = 0
        /// Whether a layer or another suite may take precedence, so that the cached value must not
        /// be returned directly.
        var isBypassed = false

        var isCurrent: Bool { if case .current = knowledge { true } else { false } }

        /// - Parameter isRoundTripChecked: Whether the value was written through this slot, with a
        ///   type whose round trip was checked.
        mutating func learn(
            _ stored: StoredValue?, isUnderFormerKey: Bool = false, isRoundTripChecked: Bool = false,
            kept: Kept? = nil
        ) {
            self.stored = stored
            unread = kept.map(UnreadEntries.kept) ?? (isRoundTripChecked ? .none : .unknown)
            self.isUnderFormerKey = isUnderFormerKey
            content = stored == nil ? .missing : .notDecoded
        }

        /// Whether the type is known to read all of `stored`.
        var isReadable: Bool { if case .none = unread { true } else { false } }

        /// Whether nothing is known of `stored`, so that a write must decode it.
        var isUnread: Bool {
            if stored != nil, case .notDecoded = content, case .unknown = unread { true } else { false }
        }

        /// Returns whether a write must first find out which parts of `stored` to keep.
        func needsRecording(for new: StoredValue?, _ form: ConversionForm) -> Bool {
            guard case .unknown = unread, let stored, let new else { return false }
            switch (stored.kind, new.kind) {
            case (.dictionary, .dictionary), (.data, .dictionary): return true
            case (.data, .data): return form.kind == .jsonData
            default: return false
            }
        }

        /// Returns whether the new value can take the place of `stored` without keeping anything of
        /// it, as far as is known.
        fileprivate func isReplaceable(by new: StoredValue, _ form: ConversionForm) -> Bool {
            if case .kept = unread { return false }
            return switch content {
            case .missing: true
            case .notDecoded: isReadable
            case .value(let box): Slot.recovery(in: box) == nil && !needsRecording(for: new, form)
            case .failure: false
            }
        }

        /// Keeps an equal value in the form that the encoder writes, so that the next write of it
        /// finds it by its bytes.
        fileprivate mutating func keepForm(of equal: StoredValue?) { stored = equal }

        /// Notes that the suite has caught up with a generation. Without one, the stored value is
        /// not known.
        fileprivate mutating func catchUp(with generation: UInt64?) {
            if isCurrent { knowledge = generation == nil ? .none : .current(generation: generation) }
        }

        fileprivate func isCurrent(at generation: UInt64) -> Bool {
            if case .current(generation) = knowledge { true } else { false }
        }

        fileprivate mutating func forget() {
            version &+= 1
            if isCurrent { knowledge = .none }
        }

        fileprivate mutating func beginCommit() {
            version &+= 1
            knowledge = .committing
        }

        fileprivate mutating func endCommit() {
            version &+= 1
            knowledge = .none
        }
    }

    let key: String
    /// The former names of the key, newest first. A value under one of them is read until a value
    /// is stored under the key. The first write moves it.
    let formerKeys: [String]
    /// The type of the values and how they are converted.
    let form: ConversionForm
    /// Whether decoded values are cached. Class instances are not, because code that receives one
    /// could change it.
    let keepsValues: Bool
    /// Whether releasing a value can run a deinit, such as that of an object in a struct.
    private let holdsObjects: Bool
    /// A `SlotEncoding` of the slot's type.
    private let encoding: any AnyObject & Sendable
    private let makeBox: @Sendable (StoredValue, DecodingMode) -> Result<any AnyObject & Sendable, DefaultsError>
    /// Returns the form in which the value of a launch argument would be stored.
    let storedForm: @Sendable (_ argument: PropertyList) -> Result<PropertyList?, DefaultsError>
    /// Returns the slot of the same key and type in another suite.
    let makeSlot: @Sendable (DefaultsSuite) -> Slot
    private let cache = Locked(Cache())
    // Safe: accessed only while the lock of the cache is held. Not in the cache, which is copied.
    @exclusivity(unchecked)
    private nonisolated(unsafe) var layered = LayeredValue()
    /// The entry of the key in the suite, which holds this slot.
    // Safe: accessed only while the lock of the suite's state is held.
    @exclusivity(unchecked)
    nonisolated(unsafe) unowned var entry: SuiteCore.Key?
    // For the Observation framework, see Slot+Tracking.swift.
    let registrar = ObservationRegistrar()
    /// The key path that the registrar uses for the value. Each slot has its own object.
    let keyPath = RetainCheckingReference<KeyPath<Slot, ObservedProperty>>(makeKeyPath())
    /// Whether the slot counts as tracked even if no reference to its key path is found.
    let isAlwaysTracked: Bool

    init<Value>(
        _ key: String, _ conversion: Conversion<Value>, formerKeys: [String],
        frameworkKeepsKeyPaths: Bool = Slot.frameworkKeepsKeyPaths
    ) {
        self.key = key
        self.formerKeys = formerKeys
        isAlwaysTracked = !frameworkKeepsKeyPaths
        form = conversion.form
        let type = (Value.self as? any AnyOptional.Type)?.wrappedType ?? Value.self
        keepsValues = !(type is AnyClass)
        holdsObjects = !_isPOD(Value.self)
        encoding = SlotEncoding(conversion)
        makeBox = conversion.decodeBox
        storedForm = { argument in
            Result { () throws(DefaultsError) in
                let value: Value
                do throws(DefaultsError) { value = try conversion.decode(argument, .argument) } catch {
                    throw DefaultsError(
                        .unreadable, key: key, type: "\(Value.self)",
                        reason: "the launch argument is not of this type and is ignored")
                }
                do throws(DefaultsError) { return try conversion.encode(value) } catch { throw error.about(key: key) }
            }
        }
        makeSlot = { suite in
            suite.core.slot(
                forKey: suite.withPrefix(key), conversion, formerKeys: formerKeys.map(suite.withPrefix))
        }
    }

    func decode(_ stored: StoredValue?) -> Content {
        guard let stored else { return .missing }
        switch makeBox(stored, .stored) {
        case .success(let box): return .value(box)
        case .failure(let error): return .failure(error.about(key: key))
        }
    }

    /// Returns what the decoder did about entries of a stored value that the type does not read;
    /// `nil` if it reads all entries.
    func recovery(of stored: StoredValue) throws(DefaultsError) -> DecodingRecovery? {
        do throws(DefaultsError) {
            let box = try makeBox(stored, .recording).get()
            // The value may hold an object whose deinit uses the suite.
            if holdsObjects, AfterUnlock.holdsLock { AfterUnlock.run { withExtendedLifetime(box) {} } }
            return Self.recovery(in: box)
        } catch {
            throw error.about(key: key)
        }
    }

    static func recovery(in box: any AnyObject & Sendable) -> DecodingRecovery? {
        // Safe: all boxes of decoded values are of this class.
        unsafeDowncast(box, to: AnyBox.self).recovery
    }

    /// Returns what to store for a value of the slot's type; `nil` to remove the key.
    func encode<Value: Sendable>(_ value: Value) throws(DefaultsError) -> StoredValue? {
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
    let encode: @Sendable (Value) -> Result<StoredValue?, DefaultsError>
    init(_ conversion: Conversion<Value>) { encode = conversion.encoding }
}

extension Slot {
    /// Returns the cached content if it is right at a generation of the backend, and `notDecoded`
    /// otherwise.
    @inline(__always)
    func kept(at generation: UInt64?) -> Content {
        guard let generation else { return .notDecoded }
        return cache.withLock { cache in
            cache.isCurrent(at: generation) && !cache.isBypassed ? cache.content : .notDecoded
        }
    }

    /// How a new value compares with the stored one.
    enum Comparison { case identical, different, unknown }

    /// Compares a new value with the stored one, as far as that is known at a generation of the
    /// backend and no layer or other suite may take precedence.
    func comparison(with new: StoredValue, at generation: UInt64) -> Comparison {
        cache.withLock { cache in
            guard cache.isCurrent(at: generation), !cache.isBypassed, !cache.isUnderFormerKey else { return .unknown }
            return cache.stored?.isIdentical(to: new) == true ? .identical : .different
        }
    }

    /// Returns the cache, for a generation that the suite has caught up with.
    func known(at generation: UInt64?) -> Cache {
        cache.withLock { cache in
            cache.catchUp(with: generation)
            return cache
        }
    }

    /// What the cache shows about a write when the suite's writer lock is acquired.
    enum Write {
        /// Nothing of the stored value has to be kept, and the commit has begun. Balance this with
        /// ``keepOwn(_:at:keeping:)`` or ``endCommit()``.
        case begun
        /// The stored value is equal to the new one.
        case equal
        case undecided(Cache)
    }

    /// Begins a commit of this key if the cache shows that no read is needed.
    func beginCommit(of new: StoredValue?, at generation: UInt64?) -> Write {
        cache.withLock { cache in
            cache.catchUp(with: generation)
            guard let new, cache.isCurrent, !cache.isUnderFormerKey else { return .undecided(cache) }
            if cache.stored == new {
                cache.keepForm(of: new)
                return .equal
            }
            guard cache.isReplaceable(by: new, form) else { return .undecided(cache) }
            cache.beginCommit()
            return .begun
        }
    }

    /// Caches the result of a read, unless it has become stale since the read began.
    func keep(_ read: Cache) {
        let old = cache.withLock { cache -> Replaced? in
            if case .committing = cache.knowledge { return nil }
            guard cache.version == read.version else { return nil }
            let old = (cache.stored, cache.content)
            // A failure may have been reported during this read.
            let reported = cache.reported
            cache = read
            switch read.content {
            case .value(let box): cache.reported = Self.recovery(in: box) == nil ? nil : reported
            case .missing: cache.reported = nil
            case .notDecoded, .failure: cache.reported = reported
            }
            if !keepsValues, case .value = read.content { cache.content = .notDecoded }
            return old
        }
        release(old)
    }

    /// A value to release after unlocking.
    typealias Replaced = (stored: StoredValue?, content: Content)

    /// Caches what the decoder found in a value that was read, unless that has become stale.
    func keep(_ recovery: DecodingRecovery?, of read: Cache) {
        cache.withLock { cache in
            guard cache.version == read.version, cache.isCurrent, cache.stored == read.stored else { return }
            cache.unread = recovery.map { .kept(Kept($0)) } ?? .none
        }
    }

    /// Caches the value that was just committed through this slot, and ends the commit.
    ///
    /// - Returns: What to pass to ``release(_:)`` when no lock is held.
    func keepOwn(_ stored: StoredValue?, at generation: UInt64?, keeping kept: Kept? = nil) -> Replaced {
        cache.withLock { cache in
            let old = (cache.stored, cache.content)
            cache.version &+= 1
            cache.learn(stored, isRoundTripChecked: true, kept: kept)
            if kept == nil { cache.reported = nil }
            cache.knowledge = .current(generation: generation)
            return old
        }
    }

    /// Releases a replaced value after the slot's lock and, if this thread is writing, after its
    /// write: the value may hold an object whose deinit uses the suite.
    func release(_ old: Replaced?) {
        guard holdsObjects, case .value(let box)? = old?.content, AfterUnlock.holdsLock else { return }
        AfterUnlock.run { withExtendedLifetime(box) {} }
    }

    /// Makes every read ask the suite first.
    func bypassKeptValues() {
        cache.withLock { cache in
            // A read in progress must not cache its result, because it does not have this mark.
            cache.forget()
            cache.isBypassed = true
        }
    }

    /// The value of a layer above the stored values, in the form in which it would be stored; `nil`
    /// if no such layer has one.
    var layeredValue: PropertyList? { cache.withLock { _ in layered.value } }

    /// Replaces what the layers above the stored values have for this slot.
    ///
    /// - Parameter isBypassed: Whether another suite may take precedence.
    /// - Returns: Whether a refused value is another one than before, so that it must be reported.
    func setLayered(_ new: LayeredValue, isBypassed: Bool) -> Bool {
        cache.withLock { cache in
            // A read in progress must not cache its result, because it has the old mark.
            cache.forget()
            cache.isBypassed = isBypassed || new.value != nil
            let isNew = new.refused != nil && new.refused != layered.refused
            layered = LayeredValue(value: new.value, refused: new.refused ?? layered.refused)
            return isNew
        }
    }

    /// Notes that other code may have changed the value.
    func forget() {
        cache.withLock { $0.forget() }
    }

    /// Begins a commit of this key. Reads cache nothing until it ends.
    func markCommitting() {
        cache.withLock { $0.beginCommit() }
    }

    /// Ends a commit.
    func endCommit() {
        cache.withLock { $0.endCommit() }
    }

    /// Runs a function while the lock of the cache is held, which also protects a ``ChangedValue``.
    func withLock<Result>(_ body: () -> Result) -> Result { cache.withLock { _ in body() } }

    /// Held during a fork, so that the cache is consistent in the child.
    func lock() { cache.lock() }
    func unlock() { cache.unlock() }

    /// Ends a commit that another thread of the parent was making.
    func unlockInChild() {
        cache.withHeldLock { if case .committing = $0.knowledge { $0.endCommit() } }
        cache.unlock()
    }

    /// Whether the slot can be released and created again later. A slot that has reported a failure
    /// would report it again, and a slot that is tracked would not be found.
    var canBeMadeAgain: Bool {
        !isTracked && formerKeys.isEmpty && cache.withLock { $0.reported == nil && layered.refused == nil }
    }

    /// Returns whether a failed read was not reported before, and records that it is reported now.
    ///
    /// - Parameters:
    ///   - stored: The value that could not be read; `nil` for the cached one.
    ///   - isValueExact: False for a backend without a generation, where the same value may read
    ///     slightly differently after it was saved.
    func takeReport(_ failure: DefaultsError, of stored: StoredValue?, isValueExact: Bool) -> Bool {
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

extension Slot: CustomReflectable {
    /// Empty, so that `dump` shows no stored value.
    var customMirror: Mirror { Mirror(self, children: []) }
}
