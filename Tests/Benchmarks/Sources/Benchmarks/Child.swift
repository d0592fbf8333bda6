import CMalloc
import Foundation
import Glibc
import TypedDefaults

/// Measurements that need a process of their own: this program, run with `--` and a mode.
enum Child {
    /// Runs a mode in a new process, and returns the numbers that it prints.
    @discardableResult static func run(_ mode: String, _ arguments: [String]) -> [Int] {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--\(mode)"] + arguments
        process.standardOutput = pipe
        try! process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return output.split(separator: "\n").map { Int($0)! }
    }

    /// Runs the mode on the command line. Returns false if there is none.
    static func runMode() throws -> Bool {
        let arguments = CommandLine.arguments
        guard arguments.count > 2 else { return false }
        switch arguments[1] {
        case "--heap": heap(path: arguments[2], key: arguments[3])
        case "--system-calls": try systemCalls(path: arguments[2])
        case "--set":
            PersistentStore<CameraConfig>(in: try DefaultsSuite(file: URL(filePath: arguments[2])))
                .set(CameraConfig(shots: 3))
        default: return false
        }
        return true
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
        print(used() - before)
        withExtendedLifetime(file) {}
    }

    /// Calls `get` and `set` between markers that a trace shows, for the script `system-calls`.
    private static func systemCalls(path: String) throws {
        let store = PersistentStore<CameraConfig>(in: try DefaultsSuite(file: URL(filePath: path)))
        func mark(_ section: String) { _ = access("/marker/\(section)", F_OK) }
        // The first run creates the file, the second one is traced, because a `set` leaves work to
        // a background thread.
        guard store.get() != nil else { return store.set(CameraConfig(shots: 1)) }
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
        store.set(CameraConfig(shots: 2))
        mark("set")
        store.set(CameraConfig(shots: 1))
        mark("equal sets")
        for _ in 0..<1_000 { store.set(CameraConfig(shots: 1)) }
        mark("other process")
        run("set", [path])
        mark("set after other process")
        store.set(CameraConfig(shots: 1))
        mark("end")
        precondition(store.get()?.shots == 1)
    }
}
