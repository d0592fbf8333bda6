import CLMDB
import CSQLite
import Foundation

/// Settings in SQLite at its fastest: the C API, a write-ahead log, one prepared statement that is
/// its own transaction, and values that are already encoded. Use one on one thread at a time.
///
/// SQLite does not write a page that has not changed, so values must vary.
final class SQLite: @unchecked Sendable {
    /// When a commit survives a power failure: after the next checkpoint (`normal`) or immediately
    /// (`full`).
    enum Synchronous: String { case normal, full }

    private var connection: OpaquePointer?
    private var insertion: OpaquePointer?
    private var selection: OpaquePointer?
    private var increment: OpaquePointer?

    init(path: String, _ synchronous: Synchronous = .normal, keys: [[UInt8]] = [], value: [UInt8] = []) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        check(sqlite3_open_v2(path, &connection, flags, nil))
        execute("PRAGMA journal_mode = wal; PRAGMA synchronous = \(synchronous.rawValue)")
        if !keys.isEmpty {
            execute("CREATE TABLE settings (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID; BEGIN")
        }
        check(
            sqlite3_prepare_v3(
                connection, "INSERT OR REPLACE INTO settings VALUES (?, ?)", -1, UInt32(SQLITE_PREPARE_PERSISTENT),
                &insertion, nil))
        check(
            sqlite3_prepare_v3(
                connection, "SELECT value FROM settings WHERE key = ?", -1, UInt32(SQLITE_PREPARE_PERSISTENT),
                &selection, nil))
        for key in keys { set(key, value) }
        if !keys.isEmpty { execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    deinit {
        sqlite3_finalize(insertion)
        sqlite3_finalize(selection)
        sqlite3_finalize(increment)
        sqlite3_close(connection)
    }

    func set(_ key: [UInt8], _ value: [UInt8]) {
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                // Without a destructor, SQLite does not copy the bytes.
                sqlite3_bind_text(
                    insertion, 1, key.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(key.count), nil)
                sqlite3_bind_blob(insertion, 2, value.baseAddress, Int32(value.count), nil)
                precondition(sqlite3_step(insertion) == SQLITE_DONE)
                sqlite3_reset(insertion)
            }
        }
    }

    /// Copies the stored bytes and returns their number.
    func get(_ key: [UInt8], into buffer: UnsafeMutableRawBufferPointer) -> Int {
        key.withUnsafeBytes { key in
            sqlite3_bind_text(selection, 1, key.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(key.count), nil)
            precondition(sqlite3_step(selection) == SQLITE_ROW)
            let count = Int(sqlite3_column_bytes(selection, 0))
            buffer.baseAddress?.copyMemory(from: sqlite3_column_blob(selection, 0), byteCount: count)
            sqlite3_reset(selection)
            return count
        }
    }

    /// Adds a table with a row for each key and a column for each property of the config.
    func addConfigs() {
        execute(
            """
            CREATE TABLE configs (key TEXT PRIMARY KEY, saves INT, shots INT, quality REAL, size TEXT, album TEXT)
                WITHOUT ROWID;
            INSERT INTO configs SELECT key, 1, 3, 0.8, 'medium', 'Holidays by the sea, summer 2016' FROM settings;
            PRAGMA wal_checkpoint(TRUNCATE)
            """)
        check(
            sqlite3_prepare_v3(
                connection, "UPDATE configs SET shots = shots + 1 WHERE key = ?", -1, UInt32(SQLITE_PREPARE_PERSISTENT),
                &increment, nil))
    }

    /// Adds one to a column of a config.
    func incrementShots(_ key: [UInt8]) {
        key.withUnsafeBytes { key in
            sqlite3_bind_text(increment, 1, key.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(key.count), nil)
            precondition(sqlite3_step(increment) == SQLITE_DONE && sqlite3_changes(connection) == 1)
            sqlite3_reset(increment)
        }
    }

    private func execute(_ text: String) { check(sqlite3_exec(connection, text, nil, nil, nil)) }
    private func check(_ code: Int32) { precondition(code == SQLITE_OK, String(cString: sqlite3_errmsg(connection))) }
}

/// Settings in LMDB, as values that are already encoded. Use one on one thread at a time.
final class LMDB: @unchecked Sendable {
    /// When a commit survives a power failure: immediately, or some time after it was made in a
    /// writable mapping of the file.
    enum Durability: UInt32 {
        case sync = 0
        case writeMapNoSync = 0x90000
    }

    private var environment: OpaquePointer?
    private var database: MDB_dbi = 0
    /// The transaction of all reads, which each read renews.
    private var reading: OpaquePointer?

    init(path: String, _ durability: Durability = .writeMapNoSync, keys: [[UInt8]] = [], value: [UInt8] = []) {
        check(mdb_env_create(&environment))
        check(mdb_env_set_mapsize(environment, 1 << 30))
        check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOTLS) | durability.rawValue, 0o600))
        write { transaction in
            check(mdb_dbi_open(transaction, nil, 0, &database))
            for key in keys { put(transaction, key, value) }
        }
        check(mdb_env_sync(environment, 1))
        check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reading))
        mdb_txn_reset(reading)
    }

    /// Opens a file to read it.
    init(opening path: String) {
        check(mdb_env_create(&environment))
        check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOTLS), 0o600))
        check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reading))
        check(mdb_dbi_open(reading, nil, 0, &database))
        mdb_txn_reset(reading)
    }

    deinit {
        mdb_txn_abort(reading)
        mdb_env_close(environment)
    }

    func set(_ key: [UInt8], _ value: [UInt8]) { write { put($0, key, value) } }

    /// Copies the stored bytes and returns their number.
    func get(_ key: [UInt8], into buffer: UnsafeMutableRawBufferPointer) -> Int {
        check(mdb_txn_renew(reading))
        let value = get(reading, key)
        buffer.baseAddress?.copyMemory(from: value.baseAddress!, byteCount: value.count)
        mdb_txn_reset(reading)
        return value.count
    }

    /// Copies the stored bytes, changes them and puts them back, in one transaction.
    func update(_ key: [UInt8], _ body: (inout [UInt8]) -> Void) {
        write { transaction in
            var value = [UInt8](get(transaction, key))
            body(&value)
            put(transaction, key, value)
        }
    }

    private func write(_ body: (OpaquePointer?) -> Void) {
        var transaction: OpaquePointer?
        check(mdb_txn_begin(environment, nil, 0, &transaction))
        body(transaction)
        check(mdb_txn_commit(transaction))
    }

    private func get(_ transaction: OpaquePointer?, _ key: [UInt8]) -> UnsafeRawBufferPointer {
        key.withUnsafeBytes { key in
            var name = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var value = MDB_val()
            check(mdb_get(transaction, database, &name, &value))
            return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        }
    }

    private func put(_ transaction: OpaquePointer?, _ key: [UInt8], _ value: [UInt8]) {
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                var name = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
                var data = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
                check(mdb_put(transaction, database, &name, &data, 0))
            }
        }
    }

    private func check(_ code: Int32) { precondition(code == 0, String(cString: mdb_strerror(code))) }
}

/// What programs do without a library: JSON data in Foundation's `UserDefaults`.
final class UserDefaultsWithJSON: Sendable {
    // Safe: measured on one thread at a time.
    private nonisolated(unsafe) let defaults: UserDefaults
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    private let keys: [String]

    @MainActor init(keys: [String]) {
        defaults = UserDefaults(suiteName: Files.makeDomain())!
        self.keys = keys
        for index in keys.indices { set(CameraConfig(), at: index) }
        defaults.synchronize()
    }

    func get(at index: Int) -> CameraConfig? {
        defaults.data(forKey: keys[index]).flatMap { try? decoder.decode(CameraConfig.self, from: $0) }
    }

    func set(_ value: CameraConfig, at index: Int) {
        defaults.set(try? encoder.encode(value), forKey: keys[index])
    }

    func synchronize() { defaults.synchronize() }
}

/// Returns a buffer for the bytes that a peer copies. It is never freed.
func makeBuffer(_ count: Int = 1 << 17) -> UnsafeMutableRawBufferPointer {
    .allocate(byteCount: count, alignment: 16)
}
