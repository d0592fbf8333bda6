// swift-format-ignore-file: AlwaysUseLowerCamelCase, since the names are those of the real thing.

/// iCloud's key-value store as one device has it.
///
/// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore: what is set is kept in memory, then on disk, then
/// handed to iCloud when the system sees fit; without an account until there is one.
public final class NSUbiquitousKeyValueStore: NSObject {
    private nonisolated(unsafe) static let shared = NSUbiquitousKeyValueStore(cloud: StubCloud())
    public class var `default`: NSUbiquitousKeyValueStore { shared }

    // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore/didchangeexternallynotification: not for what this
    // process has set.
    public static let didChangeExternallyNotification = Notification.Name(
        "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")

    private let lock = NSLock()
    // Touched with the lock held only.
    private var values: [Data: Any] = [:]
    private var unsent: [Data: (order: Int, value: Any?)] = [:]
    private var cloud: StubCloud
    private var isSynced = false

    /// Whether the program has the entitlement, without which nothing can be synchronized:
    /// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore/synchronize()
    public var isEntitled = true

    /// A device with that account.
    public init(cloud: StubCloud) {
        self.cloud = cloud
        super.init()
        cloud.attach(self)
    }

    public func object(forKey key: String) -> Any? { lock.withLock { values[Data(key.utf8)] } }
    public var dictionaryRepresentation: [String: Any] { lock.withLock { bridged(values) } }
    public func removeObject(forKey key: String) { set(nil, forKey: key) }

    public func set(_ object: Any?, forKey key: String) {
        // "Attempting to write a value to a longer key name results in a runtime error":
        // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore
        precondition(key.utf8.count <= 64, "NSUbiquitousKeyValueStore: key '\(key)' is too long.")
        let value = object.map(copied)
        lock.withLock {
            values[Data(key.utf8)] = value
            unsent[Data(key.utf8)] = (cloud.nextOrder(), value)
        }
    }

    @discardableResult public func synchronize() -> Bool { isEntitled }

    /// What this device has to tell iCloud; at the first time nothing that would replace what is there: "Your attempt to write to
    /// key-value storage was discarded because an initial download from iCloud has not yet happened",
    /// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestoreinitialsyncchange. Of what iCloud does not know the
    /// documentation says that "the system automatically reconciles" it.
    fileprivate func takeUnsent() -> [Data: (order: Int, value: Any?)] {
        lock.withLock {
            defer { unsent = [:] }
            let known = isSynced ? [:] : cloud.values
            return unsent.filter { known[$0.key] == nil }
        }
    }

    /// Takes over what iCloud has.
    fileprivate func receive(_ new: [Data: Any], reason: Int?) {
        let (changed, isFirst) = lock.withLock {
            let keys = Set(values.keys).union(new.keys).filter { !isSame(values[$0], new[$0]) }
            defer { (values, isSynced) = (new, true) }
            return (keys, !isSynced)
        }
        guard !changed.isEmpty || reason != nil else { return }
        // Nothing says that keys which another account does not have are in the list.
        if let reason { return tell(reason, Array(new.keys)) }
        tell(
            isFirst ? NSUbiquitousKeyValueStoreInitialSyncChange : NSUbiquitousKeyValueStoreServerChange,
            changed)
    }

    /// On a thread of the system's; returns when all have heard.
    fileprivate func tell(_ reason: Int, _ keys: some Sequence<Data>) {
        let done = DispatchSemaphore(value: 0)
        let info: [String: any Sendable] = [
            NSUbiquitousKeyValueStoreChangeReasonKey: reason,
            NSUbiquitousKeyValueStoreChangedKeysKey: keys.map { String(decoding: $0, as: UTF8.self) },
        ]
        // Safe: only the object's address is used there.
        nonisolated(unsafe) let store = self
        Thread.detachNewThread {
            NotificationCenter.default.post(
                name: Self.didChangeExternallyNotification, object: store, userInfo: info)
            done.signal()
        }
        done.wait()
    }

    /// Signs in with another account. "The system removes any previous iCloud data and replaces it with data from the new account":
    /// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestoreaccountchange
    public func changeAccount(to cloud: StubCloud) {
        lock.withLock { (self.cloud, unsent) = (cloud, [:]) }
        cloud.attach(self)
        receive(cloud.values, reason: NSUbiquitousKeyValueStoreAccountChange)
    }
}

// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestorechangereasonkey, …changedkeyskey
public let NSUbiquitousKeyValueStoreChangeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"
public let NSUbiquitousKeyValueStoreChangedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"
public let NSUbiquitousKeyValueStoreServerChange = 0
public let NSUbiquitousKeyValueStoreInitialSyncChange = 1
public let NSUbiquitousKeyValueStoreQuotaViolationChange = 2
public let NSUbiquitousKeyValueStoreAccountChange = 3

/// One account's part of iCloud, and the devices that share it. Nothing moves until ``deliver()``.
public final class StubCloud: @unchecked Sendable {
    private struct Weak { weak var store: NSUbiquitousKeyValueStore? }
    private let lock = NSRecursiveLock()
    // Touched with the lock held only.
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

    /// Takes what the devices have set, the later of two for one key, and hands it to all.
    public func deliver() {
        let devices = lock.withLock { self.devices.compactMap(\.store) }
        let sent = devices.map { (device: $0, edits: $0.takeUnsent()) }
        let edits = sent.flatMap { sent in sent.edits.map { (sent.device, $0.key, $0.value) } }
        for (device, key, edit) in edits.sorted(by: { $0.2.order < $1.2.order }) {
            var next = values
            next[key] = edit.value
            // https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestorequotaviolationchange
            if next.count > 1_024 || Self.size(next) > 1 << 20 {
                device.tell(NSUbiquitousKeyValueStoreQuotaViolationChange, [key])
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
