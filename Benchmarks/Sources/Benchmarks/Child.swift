import CMalloc
import Foundation
import Glibc
import TypedDefaults

/// Measurements that need a process of their own: this program, run with `--` and a mode.
enum Child {
    /// Runs a mode in a new process and returns the number that it prints.
    static func run(_ mode: String, _ arguments: [String]) -> Int {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--\(mode)"] + arguments
        process.standardOutput = pipe
        try! process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Int(output)!
    }

    /// Runs the mode on the command line. Returns false if there is none.
    static func runMode() throws -> Bool {
        let arguments = CommandLine.arguments.dropFirst()
        guard let mode = arguments.first, mode.hasPrefix("--") else { return false }
        let rest = Array(arguments.dropFirst())
        switch mode {
        case "--first-get": firstGet(in: rest[0], key: rest[1])
        case "--heap": heap(path: rest[0], key: rest[1])
        case "--system-calls": try systemCalls(path: rest[0])
        default: preconditionFailure("unknown mode")
        }
        return true
    }

    /// Prints the nanoseconds from before opening to after the first `get`.
    private static func firstGet(in place: String, key: String) {
        let start = ContinuousClock.now
        let value: Int?
        if place.hasPrefix("/") {
            value = try? DefaultsSuite(file: URL(filePath: place))[DefaultKey(key)]
        } else {
            value = UserDefaults(suiteName: place)?.integer(forKey: key)
        }
        let duration = ContinuousClock.now - start
        precondition(value == 7)
        print(Int(duration / .nanoseconds(1)), terminator: "")
    }

    /// Prints the number of heap bytes that an open file takes.
    private static func heap(path: String, key: String) {
        func used() -> Int {
            let info = mallinfo2()
            return info.uordblks + info.hblkhd
        }
        // Open a file once before measuring, because a process allocates some memory only once,
        // such as the tables of the checksum.
        blackHole(try? FileBackend(path: path).value(forKey: key))
        let before = used()
        let file = FileBackend(path: path)
        blackHole(try? file.value(forKey: key))
        print(used() - before, terminator: "")
        withExtendedLifetime(file) {}
    }

    /// Calls `get` and `set` between markers that a trace shows, for the script `system-calls`.
    private static func systemCalls(path: String) throws {
        let store = PersistentStore<CameraConfig>(in: try DefaultsSuite(file: URL(filePath: path)))
        func mark(_ section: String) { _ = access("/marker/\(section)", F_OK) }
        // The first run creates the file, the second one is traced, because a `set` leaves work to
        // a background thread.
        guard store.get() != nil else { return store.set(CameraConfig.pair.0) }
        // The second `get` still reads: when the first one began, the file was not open and had no
        // generation.
        blackHole(store.get())
        mark("control")
        for index in 0..<100_000 {
            blackHole(store.get())
            // One call in the middle shows that the trace is not blind.
            if index == 50_000 { _ = getppid() }
        }
        mark("gets")
        for _ in 0..<100_000 { blackHole(store.get()) }
        mark("first set")
        store.set(CameraConfig.pair.1)
        mark("set")
        store.set(CameraConfig.pair.0)
        mark("end")
    }
}
