/// What a reader needs to detect a change.
///
/// It has a lock of its own, because the state lock is held during system calls.
struct ReadSnapshot: Equatable {
    /// Keeps the file mapped; `nil` if no file is open.
    private let window: FileWindow?
    /// The first word of the next record in the mapping; `nil` if the file ends before it.
    // Safe: the mapping lives as long as `window`, and is only read.
    private nonisolated(unsafe) let nextRecord: UnsafeRawPointer?
    private let generation: UInt64
    /// Whether the name may refer to another file now.
    var nameMayHaveMoved: Bool

    init(of log: FileLog? = nil, generation: UInt64 = 1, nameMayHaveMoved: Bool = false) {
        window = log?.window
        nextRecord = log.flatMap { log in log.end + 8 > log.size ? nil : log.window.pointer(at: log.end) }
        self.generation = generation
        self.nameMayHaveMoved = nameMayHaveMoved
    }

    /// The generation, or the next one if something may have changed; `nil` if no file is open.
    var currentGeneration: UInt64? {
        if let nextRecord, nextRecord.load(as: UInt64.self) == 0, !nameMayHaveMoved { return generation }
        return window == nil ? nil : generation &+ 1
    }

    static func == (lhs: ReadSnapshot, rhs: ReadSnapshot) -> Bool {
        lhs.window === rhs.window && lhs.nextRecord == rhs.nextRecord && lhs.generation == rhs.generation
            && lhs.nameMayHaveMoved == rhs.nameMayHaveMoved
    }
}

extension FileWindow {
    /// Returns whether bytes follow the records of a file of at least the given size, or the file
    /// ends too early to tell.
    func hasRecord(at end: Int, size: Int) -> Bool { end + 8 > size || word(at: end) != 0 }
}
