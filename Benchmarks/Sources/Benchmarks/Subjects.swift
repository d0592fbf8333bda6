import Foundation
import TypedDefaults

/// The five-field config struct of all measurements. One of its strings is inline, another one on
/// the heap.
struct CameraConfig: DefaultConvertible, Codable {
    static let key = "CameraConfig"
    var savesToCameraRoll = true
    var shots = 3
    var quality = 0.8
    var size = "medium"
    var album = Self.album

    // Built at run time: a literal is not on the heap, so copying it costs nothing.
    private static let album = "Holidays by the sea, summer " + String(2016)
    private static let otherAlbum = "Holidays in the mountains, winter " + String(2017)

    /// Two values to store alternately, so that each `set` is a change.
    static let pair = (CameraConfig(), CameraConfig(savesToCameraRoll: false, shots: 4, album: otherAlbum))
}

/// A backend to measure.
@MainActor struct Place {
    let name: String
    /// The highest ratios of a `get` to the limit that the library promises for this backend.
    var goals: (store: Double, box: Double)?
    /// The numbers of keys among which to read.
    let keyCounts: [Int]
    /// Creates a suite that holds the given values.
    let makeSuite: ([String: PropertyList]) -> DefaultsSuite

    /// On Linux, 10,000 keys take `UserDefaults` half a minute, because it searches each key among
    /// all unsaved ones.
    static let all = [
        Place(name: "memory", goals: (2.5, 3.5), keyCounts: [10, 1_000, 10_000]) { .inMemory($0) },
        Place(name: "file", goals: (2.5, 3.5), keyCounts: [10, 1_000, 10_000]) { contents in
            let suite = try! DefaultsSuite(file: URL(filePath: makePath("defaults")))
            for (key, value) in contents { suite[DefaultKey(key)] = value as PropertyList? }
            return suite
        },
        Place(name: "UserDefaults", keyCounts: [10, 1_000]) { try! DefaultsSuite(name: UserDefaults.makeDomain($0)) },
    ]

    /// The folder of the settings files, removed at the end.
    static let folder = FileManager.default.temporaryDirectory.appending(path: "typed-defaults-\(UUID().uuidString)")

    /// Returns the path of a new file in that folder.
    static func makePath(_ kind: String) -> String { folder.appending(path: "\(UUID().uuidString).\(kind)").path }

    /// Returns stores for `count` configs in a new suite.
    func makeStores(count: Int) -> [PersistentStore<CameraConfig>] {
        let names = (0..<count).map { "CameraConfig\($0)" }
        let config = try! PropertyList(encoding: CameraConfig())
        let suite = makeSuite(Dictionary(uniqueKeysWithValues: names.map { ($0, config) }))
        return names.map { PersistentStore(in: suite, key: $0) }
    }
}

/// Domains for the benchmarks, so that no program's settings are changed.
@MainActor extension UserDefaults {
    private static var domains: [String] = []

    /// Creates a domain with the given values and returns its name.
    static func makeDomain(_ contents: [String: PropertyList] = [:]) -> String {
        let name = "typed-defaults-benchmarks-\(domains.count)"
        standard.setPersistentDomain(contents.mapValues(\.object), forName: name)
        domains.append(name)
        return name
    }

    /// Removes all of these domains.
    static func removeDomains() {
        for name in domains {
            standard.removePersistentDomain(forName: name)
            UserDefaults(suiteName: name)?.synchronize()
        }
    }
}

/// The lower limit of a value shared between threads: a lock and a copy.
final class LockedConfig: Sendable {
    // Safe: accessed only while the mutex is locked.
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

/// What programs do without a library: JSON data in Foundation's `UserDefaults`.
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
