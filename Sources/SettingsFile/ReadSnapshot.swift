/// What a reader needs to find out whether anything has changed.
///
/// It has a lock of its own, because the lock of the state is held during system calls.
struct ReadSnapshot: Equatable {
    /// The mapping of the file; `nil` if no file is open.
    private let window: FileWindow?
    /// Where the next record goes.
    private let end: Int
    /// The least size of the file.
    private let size: Int
    private let generation: UInt64
    /// Whether the name of the file may mean another file by now.
    var nameMayHaveMoved: Bool

    init(of log: FileLog? = nil, generation: UInt64 = 1, nameMayHaveMoved: Bool = false) {
        (window, end, size) = (log?.window, log?.end ?? 0, log?.size ?? 0)
        self.generation = generation
        self.nameMayHaveMoved = nameMayHaveMoved
    }

    /// The generation, or the next one if something may have changed; `nil` if no file is open.
    var currentGeneration: UInt64? {
        guard let window else { return nil }
        return nameMayHaveMoved || window.hasRecord(at: end, size: size) ? generation &+ 1 : generation
    }

    static func == (lhs: ReadSnapshot, rhs: ReadSnapshot) -> Bool {
        lhs.window === rhs.window && lhs.end == rhs.end && lhs.size == rhs.size && lhs.generation == rhs.generation
            && lhs.nameMayHaveMoved == rhs.nameMayHaveMoved
    }
}

extension FileWindow {
    /// Whether something stands at that place of a file of at least that size, or the file was cut off there.
    func hasRecord(at end: Int, size: Int) -> Bool { end + 8 > size || word(at: end) != 0 }
}
