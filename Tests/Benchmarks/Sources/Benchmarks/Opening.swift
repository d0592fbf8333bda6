import Foundation
import TypedDefaults

/// Opens a file of numbers and gets one. The peers get bytes.
@MainActor func compareOpening() throws {
    for count in [1_000, 10_000, 100_000] {
        if Run.isShort && count > 10_000 { continue }
        try compare("open and get one of \(count.formatted()) keys") { comparison in
            let keys = makeKeys(count)
            let names = keys.map { Array($0.utf8) }
            let path = try Files.makeSettings(keys, holding: 7).location!
            nonisolated(unsafe) let buffer = makeBuffer(1 << 25)
            func add<Opened>(_ role: Role, _ name: String, _ open: @escaping @Sendable () -> Opened) {
                comparison.add(role, name) { _ in
                } call: {
                    open()
                }
            }
            add(.limit, "read the file") { readFile(path, buffer) }
            add(.ours, "FileBackend") {
                let file = FileBackend(path: path)
                blackHole(try! file.value(forKey: keys[0])!)
                return file
            }
            let mapped = Files.makePath()
            _ = LMDB(path: mapped, keys: names, value: [UInt8](repeating: 7, count: 9))
            add(.peer, "LMDB") {
                let lmdb = LMDB(opening: mapped)
                blackHole(lmdb.get(names[0], into: buffer))
                return lmdb
            }
            let database = Files.makePath()
            _ = SQLite(path: database, keys: names, value: [UInt8](repeating: 7, count: 9))
            add(.peer, "SQLite") {
                let sqlite = SQLite(path: database)
                blackHole(sqlite.get(names[0], into: buffer))
                return sqlite
            }
        }
    }
    try compare("heap of an open file, for each of 10,000 keys", unit: "bytes", count: 1, rounds: 1) { comparison in
        let keys = makeKeys(10_000)
        let path = try Files.makeSettings(keys, holding: 7).location!
        comparison.addFigure(.ours, "FileBackend") { _ in Double(Child.run("heap", [path, keys[0]])[0]) / 10_000 }
    }
}
