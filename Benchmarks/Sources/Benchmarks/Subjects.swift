import Foundation
import TypedDefaults

/// The five-field config struct of all measurements, one of its strings inline and one on the heap.
struct CameraConfig: DefaultConvertible, Codable {
    static let key = "CameraConfig"
    var savesToCameraRoll = true
    var shots = 3
    var quality = 0.8
    var size = "medium"
    var album = Self.album

    // Put together at run time: a literal is not on the heap, and free to copy.
    private static let album = "Holidays by the sea, summer " + String(2016)
    private static let otherAlbum = "Holidays in the mountains, winter " + String(2017)

    /// Two values, so that storing one after the other is a change each time.
    static let pair = (CameraConfig(), CameraConfig(savesToCameraRoll: false, shots: 4, album: otherAlbum))
}

/// A place where settings are measured.
@MainActor struct Place {
    let name: String
    /// The highest ratios of a `get` to the limit that the library promises here.
    var goals: (store: Double, box: Double)?
    /// The numbers of keys to read among.
    let keyCounts: [Int]
    /// A new suite that holds those values.
    let makeSuite: ([String: PropertyList]) -> DefaultsSuite

    /// One line for each backend. On Linux 10 000 keys take `UserDefaults` half a minute: each is sought among all unsaved ones.
    static let all = [
        Place(name: "memory", goals: (2.5, 3.5), keyCounts: [10, 1_000, 10_000]) { .inMemory($0) },
        Place(name: "file", goals: (2.5, 3.5), keyCounts: [10, 1_000, 10_000]) { contents in
            let suite = try! DefaultsSuite(file: URL(filePath: makePath("defaults")))
            for (key, value) in contents { suite[DefaultKey(key)] = value as PropertyList? }
            return suite
        },
        Place(name: "UserDefaults", keyCounts: [10, 1_000]) { try! DefaultsSuite(name: UserDefaults.makeDomain($0)) },
    ]

    /// Where the settings files are, removed at the end.
    static let folder = FileManager.default.temporaryDirectory.appending(path: "typed-defaults-\(UUID().uuidString)")

    /// The path of a new file there.
    static func makePath(_ kind: String) -> String { folder.appending(path: "\(UUID().uuidString).\(kind)").path }

    /// Stores for that many configs in one new suite.
    func makeStores(count: Int) -> [PersistentStore<CameraConfig>] {
        let names = (0..<count).map { "CameraConfig\($0)" }
        let config = try! PropertyList(encoding: CameraConfig())
        let suite = makeSuite(Dictionary(uniqueKeysWithValues: names.map { ($0, config) }))
        return names.map { PersistentStore(in: suite, key: $0) }
    }
}

/// Domains of our own, which no program's settings live in.
@MainActor extension UserDefaults {
    private static var domains: [String] = []

    /// The name of a new domain that holds those values.
    static func makeDomain(_ contents: [String: PropertyList] = [:]) -> String {
        let name = "typed-defaults-benchmarks-\(domains.count)"
        standard.setPersistentDomain(contents.mapValues(\.object), forName: name)
        domains.append(name)
        return name
    }

    /// Leaves nothing behind.
    static func removeDomains() {
        for name in domains {
            standard.removePersistentDomain(forName: name)
            UserDefaults(suiteName: name)?.synchronize()
        }
    }
}

/// The least that a value shared among threads can cost: a lock, and a copy of the value.
final class LockedConfig: Sendable {
    // Safe: touched only between lock and unlock.
    private nonisolated(unsafe) var value = CameraConfig()
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func get() -> CameraConfig {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return value
    }
}

/// What programs do without a library: JSON, as data in Foundation's `UserDefaults`.
final class UserDefaultsWithJSON: Sendable {
    // Safe: measured on one thread at a time.
    private nonisolated(unsafe) let defaults: UserDefaults
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    @MainActor init() {
        defaults = UserDefaults(suiteName: UserDefaults.makeDomain())!
        set(CameraConfig())
    }

    func get() -> CameraConfig? {
        defaults.data(forKey: CameraConfig.key).flatMap { try? decoder.decode(CameraConfig.self, from: $0) }
    }

    func set(_ value: CameraConfig) { defaults.set(try? encoder.encode(value), forKey: CameraConfig.key) }
}
