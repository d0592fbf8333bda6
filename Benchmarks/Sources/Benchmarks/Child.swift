import CMalloc
import Foundation
import Glibc
import TypedDefaults

/// What must be measured in a process of its own: this program, run with `--` and what to do.
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

    /// Whether the program was run for a mode, and has done it.
    static func isOne() throws -> Bool {
        let arguments = CommandLine.arguments.dropFirst()
        guard let mode = arguments.first, mode.hasPrefix("--") else { return false }
        let rest = Array(arguments.dropFirst())
        switch mode {
        case "--first-get": firstGet(in: rest[0], key: rest[1])
        case "--heap": heap(path: rest[0], key: rest[1])
        case "--system-calls": try systemCalls(path: rest[0])
        default: preconditionFailure("no such mode")
        }
        return true
    }

    /// Prints the nanoseconds from before opening to after the first get.
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

    /// Prints the bytes on the heap that a file takes once it is open.
    private static func heap(path: String, key: String) {
        func used() -> Int {
            let info = mallinfo2()
            return info.uordblks + info.hblkhd
        }
        // What a process needs once, whatever it opens: tables of the checksum, types.
        blackHole(try? FileBackend(path: path).value(forKey: key))
        let before = used()
        let file = FileBackend(path: path)
        blackHole(try? file.value(forKey: key))
        print(used() - before, terminator: "")
        withExtendedLifetime(file) {}
    }

    /// Gets and sets between calls that a trace shows, for the script `system-calls`.
    private static func systemCalls(path: String) throws {
        let store = PersistentStore<CameraConfig>(in: try DefaultsSuite(file: URL(filePath: path)))
        func mark(_ section: String) { _ = access("/marker/\(section)", F_OK) }
        // The first run makes the file, and the second one traces: a set leaves work to a thread in the background.
        guard store.get() != nil else { return store.set(CameraConfig.pair.0) }
        // The second one still reads: when the first one began, the file was not open, and so had no generation.
        blackHole(store.get())
        mark("control")
        for index in 0..<100_000 {
            blackHole(store.get())
            // One call in the middle, so that a trace that shows none is seen to be blind.
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
