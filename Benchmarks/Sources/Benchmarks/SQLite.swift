import Foundation
import GRDB

/// Settings in SQLite at its fastest: write-ahead log, one prepared statement that is its own
/// transaction, and values that are already encoded.
final class SQLiteSettings: Sendable {
    /// When a commit survives a power failure: after the next checkpoint (`normal`) or immediately
    /// (`full`).
    enum Synchronous: String { case normal, full }

    private let pool: DatabasePool

    init(in folder: URL, _ synchronous: Synchronous, keys: [String], value: Data) throws {
        pool = try DatabasePool(path: folder.appending(path: "\(UUID().uuidString).sqlite").path)
        // Set it here: the pool would override a setting in its configuration with NORMAL.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous.rawValue)") }
        try pool.write {
            try $0.execute(sql: "CREATE TABLE settings (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
            for key in keys { try Self.set(key, value, in: $0) }
        }
    }

    func set(_ key: String, _ value: Data) throws {
        // An explicit transaction would add two statements.
        try pool.writeWithoutTransaction { try Self.set(key, value, in: $0) }
    }

    private static func set(_ key: String, _ value: Data, in database: Database) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO settings VALUES (?, ?)")
            .execute(arguments: [key, value])
    }
}
