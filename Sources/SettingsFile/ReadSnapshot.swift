/// What a reader needs to detect a change and to look up a value.
///
/// It has a lock of its own, because the state lock is held during system calls.
struct ReadSnapshot: Equatable {
    /// The open file; `nil` if there is none.
    let log: FileLog?
    /// The first word of the next record in the mapping; `nil` if the file ends before it, or if
    /// the name may refer to another file now.
    private let nextRecord: UnsafeRawPointer?
    private let generation: UInt64
    /// The process that opened the file, as counted by ``Forks/count``.
    private let process: Int

    init(of log: FileLog? = nil, generation: UInt64 = 1, nameMayHaveMoved: Bool = false) {
        self.log = log
        nextRecord = log.flatMap { log in
            nameMayHaveMoved || log.end + 8 > log.size ? nil : log.window.pointer(at: log.end)
        }
        self.generation = generation
        process = log?.file.process ?? 0
    }

    /// The generation, or the next one if something may have changed; `nil` if no file is open.
    var currentGeneration: UInt64? {
        // One comparison for both, because each `get` makes it.
        if let nextRecord, nextRecord.load(as: Int64.self) | Int64(process ^ Forks.count) == 0 { return generation }
        return log == nil ? nil : generation &+ 1
    }

    static func == (lhs: ReadSnapshot, rhs: ReadSnapshot) -> Bool {
        lhs.log === rhs.log && lhs.nextRecord == rhs.nextRecord && lhs.generation == rhs.generation
    }
}
