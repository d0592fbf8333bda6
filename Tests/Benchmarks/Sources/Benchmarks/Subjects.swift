import Foundation
import TypedDefaults

/// The five-field config struct of all measurements. One of its strings is inline, another one on
/// the heap.
struct CameraConfig: DefaultConfig {
    static let key = "CameraConfig"
    var savesToCameraRoll = true
    var shots = 3
    var quality = 0.8
    var size = "medium"
    var album = Self.album

    // Built at run time: a literal is not on the heap, so copying it costs nothing.
    private static let album = "Holidays by the sea, summer " + String(2016)
}

/// The value that a peer stores in place of the config, already encoded. It has about the size of
/// the config.
///
/// A record in a settings file adds 13 bytes for the record and its operation, 18 for the key, 3
/// for the kind of the value and two counts, and 2 of padding.
let encodedConfig = [UInt8](repeating: 7, count: 124)
let encodedRecord = [UInt8](repeating: 7, count: 160)

extension [UInt8] {
    /// Puts a number into the value, because some peers skip the write of an unchanged value.
    mutating func vary(_ number: Int) {
        withUnsafeMutableBytes { $0.storeBytes(of: number, as: Int.self) }
    }
}

/// Returns names for settings, in an order that is not that of memory.
func makeKeys(_ count: Int) -> [String] {
    (0..<count).map { "CameraConfig" + String($0 + 1_000_000) }.shuffled()
}

/// The files and domains of the benchmarks, so that no program's settings are changed.
@MainActor enum Files {
    /// The folder of all files.
    static let folder = FileManager.default.temporaryDirectory.appending(path: "typed-defaults-\(UUID().uuidString)")
    private static var domains: [String] = []

    /// Returns the path of a new file.
    static func makePath() -> String {
        try! FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appending(path: UUID().uuidString).path
    }

    /// Returns the name of a new domain.
    static func makeDomain() -> String {
        domains.append("typed-defaults-benchmarks-\(domains.count)")
        return domains.last!
    }

    static func removeAll() {
        for name in domains {
            UserDefaults.standard.removePersistentDomain(forName: name)
            UserDefaults(suiteName: name)?.synchronize()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Creates a settings file that holds a value under each key, by default a config.
    static func makeSettings(
        _ keys: [String], _ durability: DefaultsSuite.Durability = .process, holding value: PropertyList? = nil
    ) throws -> DefaultsSuite {
        let file = FileBackend(path: makePath(), durability: durability)
        let value = try value ?? PropertyList(encoding: CameraConfig())
        for start in stride(from: 0, to: keys.count, by: 1_000) {
            let edits = keys[start..<min(start + 1_000, keys.count)].map { (key: $0, value: value as PropertyList?) }
            try file.write { () throws(DefaultsError) in _ = try file.commit(edits, over: nil) }
        }
        try file.synchronize()
        return DefaultsSuite(backend: file)
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
