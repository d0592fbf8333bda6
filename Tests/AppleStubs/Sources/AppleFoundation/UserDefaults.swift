/// `UserDefaults` as on Apple platforms, according to its documentation and to reports of
/// developers.
///
/// https://developer.apple.com/documentation/foundation/userdefaults: thread-safe. All objects of a
/// domain see a new value immediately, and it outlives the process without a call to
/// `synchronize()`.
open class UserDefaults: NSObject {
    private nonisolated(unsafe) static let shared = UserDefaults(domain: programDomain)
    /// The program's own domain. Without a bundle, it has the name of the program:
    /// kCFPreferencesCurrentApplication,
    /// https://developer.apple.com/documentation/corefoundation/kcfpreferencescurrentapplication
    private static var programDomain: String { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }
    public class var standard: UserDefaults { shared }
    public static let argumentDomain = "NSArgumentDomain"
    public static let globalDomain = "NSGlobalDomain"
    public static let registrationDomain = "NSRegistrationDomain"

    // https://developer.apple.com/documentation/foundation/userdefaults/didchangenotification:
    // posted on the thread that made the change, and not for changes by other processes.
    public static let didChangeNotification = Notification.Name("NSUserDefaultsDidChangeNotification")

    private let domain: String
    /// The domain that holds the values. Without its entitlement, a group is a private domain of
    /// the program: https://developer.apple.com/documentation/xcode/configuring-app-groups
    private var store: String { Self.store(of: domain) }
    private static func store(of domain: String) -> String {
        FileManager.isEntitled(toGroup: domain) ? domain : "\(domain) of this program"
    }

    /// Returns the value of a domain, for `CFPreferencesCopyValue`.
    static func storedValue(forKey key: String, inDomain domain: String) -> Any? {
        Preferences.shared.value(forKey: key, in: store(of: domain))
    }
    /// The number of objects of a domain.
    public static func countOfObjects(ofDomain name: String) -> Int { Preferences.shared.countOfObjects(of: name) }
    private let lock = NSRecursiveLock()
    // "The argument and registration domains are shared between all instances of UserDefaults":
    // https://developer.apple.com/documentation/foundation/userdefaults/init(suitename:)
    private static let volatileLock = NSLock()
    // Safe: accessed only while that lock is held.
    private nonisolated(unsafe) static var volatileDomains: [String: [String: Any]] = [:]
    // The next three are accessed only while the lock is held.
    private var observations: [Observation] = []
    private var suites: [String] = []
    public private(set) var synchronizations = 0

    private struct Observation {
        weak var observer: NSObject?
        let keyPath: String
        let context: UnsafeMutableRawPointer?
        let id: ObjectIdentifier
    }

    /// Whether observers are notified twice of each change, as on some systems and in some setups:
    /// https://qiita.com/salexkidd@github/items/743c4ae769812bf1b056,
    /// https://gist.github.com/salexkidd/eab683f34a536cf16cfd209625995ba5
    public var notifiesTwice = false

    private init(domain: String) {
        self.domain = domain
        super.init()
        Preferences.shared.attach(self, to: store)
    }

    // https://developer.apple.com/documentation/foundation/userdefaults/init(suitename:): returns
    // `nil` for the program's own identifier and for the global domain.
    public convenience init?(suiteName: String?) {
        guard suiteName != Self.globalDomain, suiteName != Bundle.main.bundleIdentifier else { return nil }
        self.init(domain: suiteName ?? Self.programDomain)
    }

    deinit {
        // "was deallocated while key value observers were still registered with it":
        // https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueObserving/Articles/KVOBasics.html
        precondition(observations.isEmpty, "deallocated while key value observers were still registered with it")
    }
}

// Explicitly not `Sendable` in the SDKs of iOS 26.2 and macOS 15.5.
@available(*, unavailable)
extension UserDefaults: @unchecked Sendable {}

// Reading and writing
extension UserDefaults {
    // https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/UserDefaults/AboutPreferenceDomains/AboutPreferenceDomains.html:
    // arguments, then the domain, then the global domain, then registered values. A managed value
    // replaces the one in the domain:
    // https://developer.apple.com/documentation/foundation/userdefaults/objectisforced(forkey:)
    public func object(forKey key: String) -> Any? {
        let (argument, registered) = Self.volatileLock.withLock {
            (Self.volatileDomains[Self.argumentDomain]?[key], Self.volatileDomains[Self.registrationDomain]?[key])
        }
        return argument ?? Preferences.shared.managedValue(forKey: key, in: store)
            ?? Preferences.shared.value(forKey: key, in: store)
            ?? lock.withLock { suites }.lazy.compactMap { Preferences.shared.value(forKey: key, in: $0) }.first
            ?? Preferences.shared.value(forKey: key, in: Self.globalDomain) ?? registered
    }

    // https://developer.apple.com/documentation/foundation/userdefaults/addsuite(named:): inserts the
    // domain into the search list, after the object's own.
    public func addSuite(named name: String) { lock.withLock { suites.append(name) } }

    public func string(forKey key: String) -> String? { object(forKey: key) as? String }
    public func dictionary(forKey key: String) -> [String: Any]? { object(forKey: key) as? [String: Any] }
    public func integer(forKey key: String) -> Int { (object(forKey: key) as? NSNumber)?.intValue ?? 0 }

    // https://developer.apple.com/documentation/foundation/userdefaults/set(_:forkey:)-3pemx: `nil`
    // removes the value.
    public func set(_ value: Any?, forKey key: String) { write([key: value]) }
    // "The value is archived to an NSData", says the header NSUserDefaults.h.
    public func set(_ url: URL?, forKey key: String) {
        do {
            write([
                key: try url.map {
                    try NSKeyedArchiver.archivedData(withRootObject: $0 as NSURL, requiringSecureCoding: true)
                }
            ])
        } catch {
            fatalError("a URL was not archived: \(error)")
        }
    }
    public func removeObject(forKey key: String) { write([key: nil]) }

    private func write(_ edits: [String: Any?]) {
        Preferences.shared.write(edits, in: store)
        NotificationCenter.default.post(name: Self.didChangeNotification, object: self)
    }

    public func register(defaults: [String: Any]) {
        Self.volatileLock.withLock {
            Self.volatileDomains[Self.registrationDomain, default: [:]].merge(defaults.mapValues(copied)) { $1 }
        }
    }

    public func volatileDomain(forName name: String) -> [String: Any] {
        Self.volatileLock.withLock { Self.volatileDomains[name] ?? [:] }
    }
    public func setVolatileDomain(_ domain: [String: Any], forName name: String) {
        Self.volatileLock.withLock { Self.volatileDomains[name] = domain }
    }

    public func persistentDomain(forName name: String) -> [String: Any]? {
        Preferences.shared.values(in: name == domain ? store : name)
    }

    // https://developer.apple.com/documentation/foundation/userdefaults/removepersistentdomain(forname:):
    // equal to removing each key.
    public func removePersistentDomain(forName name: String) {
        Preferences.shared.write(
            (persistentDomain(forName: name) ?? [:]).mapValues { _ in nil }, in: name == domain ? store : name)
        NotificationCenter.default.post(name: Self.didChangeNotification, object: self)
    }

    public func setPersistentDomain(_ values: [String: Any], forName name: String) {
        var edits = (persistentDomain(forName: name) ?? [:]).mapValues { _ in Any?.none }
        for (key, value) in values { edits[key] = value }
        Preferences.shared.write(edits, in: name == domain ? store : name)
        NotificationCenter.default.post(name: Self.didChangeNotification, object: self)
    }

    // Managed values

    // https://developer.apple.com/documentation/foundation/userdefaults/objectisforced(forkey:)
    public func objectIsForced(forKey key: String) -> Bool {
        Preferences.shared.managedValue(forKey: key, in: store) != nil
    }

    // https://developer.apple.com/documentation/foundation/userdefaults/objectisforced(forkey:indomain:)
    public func objectIsForced(forKey key: String, inDomain name: String) -> Bool {
        Preferences.shared.managedValue(forKey: key, in: name == domain ? store : name) != nil
    }

    /// Sets or ends a managed value. A value that the program sets in the meantime is stored but
    /// hidden.
    public func setManaged(_ value: Any?, forKey key: String) {
        Preferences.shared.manage(value, forKey: key, in: store)
    }

    // https://developer.apple.com/documentation/foundation/userdefaults/synchronize(): "unnecessary
    // and shouldn't be used".
    @discardableResult public func synchronize() -> Bool {
        lock.withLock { synchronizations += 1 }
        return true
    }

    /// Restarts the device: until it is unlocked, its settings look empty, and writes replace them.
    /// https://forums.developer.apple.com/forums/thread/15685
    public func lockDevice() { Preferences.shared.setLocked(true, store) }
    public func unlockDevice() { Preferences.shared.setLocked(false, store) }

    /// Changes a value as another process would: observers are called on a thread of the system,
    /// and no notification is posted, see ``didChangeNotification``. Returns when the observers
    /// have been called.
    ///
    /// The other process has all entitlements, so it does not reach a group for which this process
    /// has none.
    public func setFromAnotherProcess(_ value: Any?, forKey key: String) {
        let done = DispatchSemaphore(value: 0)
        // Safe: sent to the other thread, and not used here until that thread has ended.
        nonisolated(unsafe) let value = value
        Thread.detachNewThread { [domain] in
            Preferences.shared.write([key: value], in: domain)
            done.signal()
        }
        done.wait()
    }
}

// Key-value observing
extension UserDefaults {
    // https://developer.apple.com/documentation/objectivec/nsobject-swift.class/addobserver(_:forkeypath:options:context:):
    // retains neither object.
    public func addObserver(
        _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions,
        context: UnsafeMutableRawPointer?
    ) {
        // A collection operator raises an exception if the value is not a collection:
        // https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/CollectionOperators.html
        precondition(!keyPath.hasPrefix("@"), "[<NSUserDefaults> addObserver:…] is not supported. Key path: \(keyPath)")
        lock.withLock {
            observations.append(
                Observation(observer: observer, keyPath: keyPath, context: context, id: ObjectIdentifier(observer)))
        }
    }

    public var observationCount: Int { lock.withLock { observations.count } }

    // https://developer.apple.com/documentation/objectivec/nsobject-swift.class/removeobserver(_:forkeypath:context:)
    public func removeObserver(_ observer: NSObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?) {
        let index = lock.withLock {
            let index = observations.lastIndex {
                $0.id == ObjectIdentifier(observer) && $0.keyPath == keyPath && $0.context == context
            }
            if let index { observations.remove(at: index) }
            return index
        }
        precondition(index != nil, "Cannot remove an observer for the key path \(keyPath): it is not registered")
    }

    // Notifies synchronously, on the thread that made the change:
    // https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueObserving/KeyValueObserving.html
    fileprivate func notify(_ key: String) {
        // A key with a dot is a path to a key of another object, and never matches a change here:
        // https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/BasicPrinciples.html
        let matching = lock.withLock { observations.filter { $0.keyPath == key && !key.contains(".") } }
        for observation in matching {
            guard let observer = observation.observer else {
                // The real one sends the message to whatever object has the address now.
                fatalError("an observer of \(key) was deallocated while it was registered")
            }
            for _ in 0..<(notifiesTwice ? 2 : 1) {
                observer.observeValue(forKeyPath: key, of: self, change: [:], context: observation.context)
            }
        }
    }
}

/// The domains that the system's daemon keeps, each in a file that is read once and written at each
/// change.
private final class Preferences: @unchecked Sendable {
    static let shared = Preferences()

    private struct Domain {
        /// Keys are compared by their bytes, as `NSString` does.
        var values: [Data: Any] = [:]
        var objects: [Weak] = []
        /// Managed values.
        var managed: [Data: Any] = [:]
        /// Stored values that are hidden before the first unlock.
        var hidden: [Data: Any] = [:]
    }
    private struct Weak { weak var object: UserDefaults? }
    private let lock = NSRecursiveLock()
    // Accessed only while the lock is held.
    private var domains: [String: Domain] = [:]

    func attach(_ object: UserDefaults, to name: String) {
        change(name) { domain in
            domain.objects.removeAll { $0.object == nil }
            domain.objects.append(Weak(object: object))
        }
    }

    func countOfObjects(of name: String) -> Int { change(name) { $0.objects.filter { $0.object != nil }.count } }

    func value(forKey key: String, in name: String) -> Any? { change(name) { $0.values[Data(key.utf8)] } }

    func managedValue(forKey key: String, in name: String) -> Any? { change(name) { $0.managed[Data(key.utf8)] } }

    func manage(_ value: Any?, forKey key: String, in name: String) {
        let objects = change(name) { domain in
            domain.managed[Data(key.utf8)] = value.map(copied)
            return domain.objects.compactMap(\.object)
        }
        for object in objects { object.notify(key) }
    }

    func values(in name: String) -> [String: Any]? {
        change(name) { $0.values.isEmpty ? nil : bridged($0.values) }
    }

    func setLocked(_ isLocked: Bool, _ name: String) {
        change(name) { domain in
            if isLocked {
                (domain.hidden, domain.values) = (domain.values, [:])
            } else if domain.values.isEmpty {
                domain.values = domain.hidden
            }
        }
    }

    func write(_ edits: [String: Any?], in name: String) {
        let objects = change(name) { domain in
            for (key, value) in edits { domain.values[Data(key.utf8)] = value.map(copied) }
            save(bridged(domain.values), name)
            return domain.objects.compactMap(\.object)
        }
        // Not while the lock is held, because observers run code of the program.
        for key in edits.keys { for object in objects { object.notify(key) } }
    }

    private func change<Result>(_ name: String, _ body: (inout Domain) -> Result) -> Result {
        lock.withLock {
            if domains[name] == nil { domains[name] = Domain(values: load(name)) }
            return body(&domains[name]!)
        }
    }

    private func file(_ name: String) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "AppleStubs-\(name).plist")
    }

    private func load(_ name: String) -> [Data: Any] {
        guard let data = FileManager.default.contents(atPath: file(name).path) else { return [:] }
        let root = try? PropertyListSerialization.propertyList(from: data, format: nil)
        let values = root as? [String: Any] ?? [:]
        return Dictionary(uniqueKeysWithValues: values.map { (Data($0.key.utf8), copied($0.value)) })
    }

    private func save(_ values: [String: Any], _ name: String) {
        do {
            guard !values.isEmpty else {
                if FileManager.default.fileExists(atPath: file(name).path) {
                    try FileManager.default.removeItem(at: file(name))
                }
                return
            }
            let data = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
            // Not `.atomic`, which waits for the disk: no test cuts the power.
            let new = file("\(name)-\(UUID().uuidString)").path
            try data.write(to: URL(filePath: new))
            guard rename(new, file(name).path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            // Continue, because only other processes would miss the value, and few tests have one.
            FileHandle.standardError.write(Data("AppleStubs: \(name) was not saved: \(error)\n".utf8))
        }
    }
}
