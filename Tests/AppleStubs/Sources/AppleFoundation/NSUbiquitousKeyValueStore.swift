// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are Apple's.

/// iCloud's key-value store as one device sees it.
///
/// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore: a new value is
/// kept in memory, then on disk, and sent to iCloud at a time that the system chooses, once there
/// is an account.
public final class NSUbiquitousKeyValueStore: NSObject {
    private nonisolated(unsafe) static let shared = NSUbiquitousKeyValueStore(cloud: StubCloud())
    public class var `default`: NSUbiquitousKeyValueStore { shared }

    // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore/didchangeexternallynotification:
    // not posted for values that this process has set.
    public static let didChangeExternallyNotification = Notification.Name(
        "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")

    private let lock = NSLock()
    // Accessed only while the lock is held.
    private var values: [Data: Any] = [:]
    private var unsent: [Data: (order: Int, value: Any?)] = [:]
    private var cloud: StubCloud
    private var isSynced = false

    /// Whether the program has the entitlement, which synchronizing requires:
    /// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore/synchronize()
    public var isEntitled = true

    /// Whether notifications are posted inside the next call of the store, on its thread, instead
    /// of on another thread. Apple does not say when and where they are posted.
    public var postsInsideCalls = false
    // Accessed only while the lock is held.
    private var waiting: [[String: any Sendable]] = []

    private func postWaiting() {
        let waiting = lock.withLock {
            defer { self.waiting = [] }
            return self.waiting
        }
        for info in waiting {
            NotificationCenter.default.post(name: Self.didChangeExternallyNotification, object: self, userInfo: info)
        }
    }

    /// Creates a device that is signed in to an account.
    public init(cloud: StubCloud) {
        self.cloud = cloud
        super.init()
        cloud.attach(self)
    }

    public func object(forKey key: String) -> Any? {
        postWaiting()
        return lock.withLock { values[Data(key.utf8)] }
    }
    public var dictionaryRepresentation: [String: Any] {
        postWaiting()
        return lock.withLock { bridged(values) }
    }
    public func removeObject(forKey key: String) { set(nil, forKey: key) }

    public func set(_ object: Any?, forKey key: String) {
        // "Attempting to write a value to a longer key name results in a runtime error":
        // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore
        precondition(key.utf8.count <= 64, "NSUbiquitousKeyValueStore: key '\(key)' is too long.")
        let value = object.map(copied)
        postWaiting()
        lock.withLock {
            values[Data(key.utf8)] = value
            unsent[Data(key.utf8)] = (cloud.nextOrder(), value)
        }
    }

    @discardableResult public func synchronize() -> Bool {
        postWaiting()
        return isEntitled
    }

    /// Returns the changes to send to iCloud. The first time, leaves out changes that would replace
    /// a value in iCloud: "Your attempt to write to key-value storage was discarded because an
    /// initial download from iCloud has not yet happened",
    /// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestoreinitialsyncchange.
    /// For keys that iCloud does not have, the documentation says that "the system automatically
    /// reconciles" them.
    fileprivate func takeUnsent() -> [Data: (order: Int, value: Any?)] {
        lock.withLock {
            defer { unsent = [:] }
            let known = isSynced ? [:] : cloud.values
            return unsent.filter { known[$0.key] == nil }
        }
    }

    /// Replaces the values with those in iCloud.
    fileprivate func receive(_ new: [Data: Any], reason: Int?) {
        let (changed, isFirst) = lock.withLock {
            let keys = Set(values.keys).union(new.keys).filter { !isSame(values[$0], new[$0]) }
            defer { (values, isSynced) = (new, true) }
            return (keys, !isSynced)
        }
        guard !changed.isEmpty || reason != nil else { return }
        // The documentation does not promise that the list contains keys that the new account
        // lacks.
        if let reason { return notify(reason, Array(new.keys)) }
        notify(
            isFirst ? NSUbiquitousKeyValueStoreInitialSyncChange : NSUbiquitousKeyValueStoreServerChange,
            changed)
    }

    /// Posts a notification on another thread. Returns when all observers have been called, or
    /// leaves it to the next call.
    fileprivate func notify(_ reason: Int, _ keys: some Sequence<Data>) {
        let done = DispatchSemaphore(value: 0)
        let info: [String: any Sendable] = [
            NSUbiquitousKeyValueStoreChangeReasonKey: reason,
            NSUbiquitousKeyValueStoreChangedKeysKey: keys.map { String(decoding: $0, as: UTF8.self) },
        ]
        guard !postsInsideCalls else { return lock.withLock { waiting.append(info) } }
        // Safe: only the address of the object is used there.
        nonisolated(unsafe) let store = self
        Thread.detachNewThread {
            NotificationCenter.default.post(
                name: Self.didChangeExternallyNotification, object: store, userInfo: info)
            done.signal()
        }
        done.wait()
    }

    /// Signs in to another account. "The system removes any previous iCloud data and replaces it
    /// with data from the new account":
    /// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestoreaccountchange
    public func changeAccount(to cloud: StubCloud) {
        lock.withLock { (self.cloud, unsent) = (cloud, [:]) }
        cloud.attach(self)
        receive(cloud.values, reason: NSUbiquitousKeyValueStoreAccountChange)
    }
}

// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestorechangereasonkey,
// …changedkeyskey
public let NSUbiquitousKeyValueStoreChangeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"
public let NSUbiquitousKeyValueStoreChangedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"
public let NSUbiquitousKeyValueStoreServerChange = 0
public let NSUbiquitousKeyValueStoreInitialSyncChange = 1
public let NSUbiquitousKeyValueStoreQuotaViolationChange = 2
public let NSUbiquitousKeyValueStoreAccountChange = 3

/// One account in iCloud, and the devices that share it. Changes only move when ``deliver()`` is
/// called.
public final class StubCloud: @unchecked Sendable {
    private struct Weak { weak var store: NSUbiquitousKeyValueStore? }
    private let lock = NSRecursiveLock()
    // Accessed only while the lock is held.
    private var stored: [Data: Any] = [:]
    private var devices: [Weak] = []
    private var order = 0

    public init() {}

    fileprivate var values: [Data: Any] { lock.withLock { stored } }
    fileprivate func attach(_ store: NSUbiquitousKeyValueStore) { lock.withLock { devices.append(Weak(store: store)) } }
    fileprivate func nextOrder() -> Int {
        lock.withLock {
            order += 1
            return order
        }
    }

    /// Collects the changes of the devices, prefers the later one for each key, and sends the
    /// result to all devices.
    public func deliver() {
        let devices = lock.withLock { self.devices.compactMap(\.store) }
        let sent = devices.map { (device: $0, edits: $0.takeUnsent()) }
        let edits = sent.flatMap { sent in sent.edits.map { (sent.device, $0.key, $0.value) } }
        for (device, key, edit) in edits.sorted(by: { $0.2.order < $1.2.order }) {
            var next = values
            next[key] = edit.value
            // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestorequotaviolationchange
            if next.count > 1_024 || Self.size(next) > 1 << 20 {
                device.notify(NSUbiquitousKeyValueStoreQuotaViolationChange, [key])
            } else {
                lock.withLock { stored = next }
            }
        }
        for device in devices { device.receive(values, reason: nil) }
    }

    private static func size(_ values: [Data: Any]) -> Int {
        values.values.reduce(0) { sum, value in
            let data = try? PropertyListSerialization.data(fromPropertyList: [value], format: .binary, options: 0)
            return sum + (data?.count ?? 0)
        }
    }
}

private func isSame(_ one: Any?, _ other: Any?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return NSArray(array: [one]).isEqual(to: [other])
}
