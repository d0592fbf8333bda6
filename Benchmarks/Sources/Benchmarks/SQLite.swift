import Foundation
import GRDB

/// Settings in SQLite, as fast as it gets: the log ahead of the database, one prepared statement that is a transaction of its own, and
/// values that are bytes already.
final class SQLiteSettings: Sendable {
    /// When a commit is safe from a loss of power: `normal` at the next checkpoint, `full` at once.
    enum Synchronous: String { case normal, full }

    private let pool: DatabasePool

    init(in folder: URL, _ synchronous: Synchronous, keys: [String], value: Data) throws {
        pool = try DatabasePool(path: folder.appending(path: "\(UUID().uuidString).sqlite").path)
        // Here and not in a configuration, which the pool follows with a NORMAL of its own.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous.rawValue)") }
        try pool.write {
            try $0.execute(sql: "CREATE TABLE settings (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
            for key in keys { try Self.set(key, value, in: $0) }
        }
    }

    func set(_ key: String, _ value: Data) throws {
        // A transaction around one statement would be two more statements.
        try pool.writeWithoutTransaction { try Self.set(key, value, in: $0) }
    }

    private static func set(_ key: String, _ value: Data, in database: Database) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO settings VALUES (?, ?)")
            .execute(arguments: [key, value])
    }
}
