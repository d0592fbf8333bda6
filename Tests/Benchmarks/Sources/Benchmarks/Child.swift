import CMalloc
import Foundation
import Glibc
import TypedDefaults

/// Measurements that need a process of their own: this program, run with `--` and a mode.
enum Child {
    /// Runs a mode in a new process, calls `body` once it is ready, and returns the numbers that it
    /// prints.
    static func run(_ mode: String, _ arguments: [String], _ body: () -> Void = {}) -> [Int] {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--\(mode)"] + arguments
        process.standardOutput = pipe
        try! process.run()
        // The first line says that it is ready.
        precondition(pipe.fileHandleForReading.readData(ofLength: 6) == Data("ready\n".utf8))
        body()
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
        case "--observe": try observe(path: arguments[2])
        case "--inotify": inotify(path: arguments[2])
        case "--system-calls": try systemCalls(path: arguments[2])
        case "--set":
            PersistentStore<CameraConfig>(in: try DefaultsSuite(file: URL(filePath: arguments[2])))
                .set(CameraConfig(shots: 3))
            write("ready")
        default: return false
        }
        return true
    }

    /// Without a buffer, so that the other process can wait for a line.
    private static func write(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    /// Prints the nanoseconds from each `set` to the call of an observer.
    private static func observe(path: String) throws {
        let store = PersistentStore<CameraConfig>(in: try DefaultsSuite(file: URL(filePath: path)))
        let done = DispatchSemaphore(value: 0)
        // Safe: changed by the observer, which is called once at a time, and read afterward.
        nonisolated(unsafe) var latencies: [Int] = []
        let token = store.observe { change in
            let end = now()
            guard let start = change.newValue?.shots, start > 0 else {
                if change.newValue?.shots == -1 { done.signal() }
                return
            }
            latencies.append(end - start)
        }
        write("ready")
        done.wait()
        token.cancel()
        write(latencies.map(String.init).joined(separator: "\n"))
    }

    /// Prints the nanoseconds from each write to the end of a read of the written number.
    private static func inotify(path: String) {
        let watch = inotify_init1(0)
        precondition(watch >= 0 && inotify_add_watch(watch, path, UInt32(IN_MODIFY)) >= 0)
        let file = open(path, O_RDONLY | O_CLOEXEC)
        var latencies: [Int] = []
        var (start, buffer) = (0, [UInt8](repeating: 0, count: 4_096))
        write("ready")
        while true {
            precondition(read(watch, &buffer, buffer.count) > 0 && pread(file, &start, 8, 0) == 8)
            if start == -1 { break }
            latencies.append(now() - start)
        }
        write(latencies.map(String.init).joined(separator: "\n"))
    }

    /// Prints the number of heap bytes that an open file takes.
    private static func heap(path: String, key: String) {
        func used() -> Int {
            let info = mallinfo2()
            return info.uordblks + info.hblkhd
        }
        write("ready")
        // Open a file once before measuring, because a process allocates some memory only once,
        // such as the tables of the checksum.
        blackHole(try? FileBackend(path: path).value(forKey: key))
        let before = used()
        let file = FileBackend(path: path)
        blackHole(try? file.value(forKey: key))
        write("\(used() - before)")
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
        _ = run("set", [path])
        mark("set after other process")
        store.set(CameraConfig(shots: 1))
        mark("end")
        precondition(store.get()?.shots == 1)
    }
}
