import Dispatch
import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// A stored number. Sometimes its decoding takes long, so that commits come in between.
private struct Digit: Codable, Sendable {
    var number: Int

    init(_ number: Int) { self.number = number }

    init(from decoder: any Decoder) throws {
        pauseSometimes()
        number = try decoder.singleValueContainer().decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

// 0 stands for a missing value, and is never stored.
private let keys = [DefaultKey("a", default: Digit(0)), DefaultKey("b", default: Digit(0))]
private func makeStores(_ suite: DefaultsSuite) -> [AnyStore<Digit>] { keys.map { UserDefault($0, in: suite).store } }
private func number(_ digit: Digit?) -> Int { digit?.number ?? 0 }
private func digit(_ number: Int) -> Digit? { number == 0 ? nil : Digit(number) }
/// Returns the state of both keys.
func readBoth(_ suite: DefaultsSuite) throws -> Int { both(try suite.contents()) }
private func both(_ contents: SuiteContents) -> Int { number(contents[keys[0]]) | number(contents[keys[1]]) << 2 }

/// Runs two workers until the last round.
func workInProcess(_ suite: DefaultsSuite, _ path: String, process: Int, _ client: Client) {
    startWorkers(suite, Board(path), process: process, 2 * process..<2 * process + 2, client).wait()
}

/// Starts threads that make operations until the last round, and observers of both keys.
///
/// - Parameter process: The number of this process.
@discardableResult
func startWorkers(
    _ suite: DefaultsSuite, _ board: Board, process: Int, _ workers: Range<Int>, _ client: Client
) -> DispatchGroup {
    suite.onFailure = { _ in board.increment(Board.failures) }
    let tokens = makeStores(suite).enumerated().map { key, store in
        observe(store, board, at: Board.received + 2 * process + key, isDeaf: client == .deaf)
    }
    let threads = DispatchGroup()
    for worker in workers {
        DispatchQueue(label: "\(worker)").async(group: threads) {
            var (round, hand) = (board[Board.round], Hand(suite, board, client))
            repeat {
                board[Board.finished + worker] = round
                guard wait({ board[Board.round] != round }) else { return }
                round = board[Board.round]
                for index in 0..<Board.operationsPerWorker where round > 0 {
                    hand.makeOperation(worker, board.operations + worker * Board.operationsPerWorker + index)
                }
            } while round > 0
            _ = tokens
        }
    }
    return threads
}

/// Checks that each change begins with the value that the one before ended with, and changes it.
private func observe(_ store: AnyStore<Digit>, _ board: Board, at place: Int, isDeaf: Bool) -> ObservationToken {
    store.observe(initial: true) { change in
        let (old, new) = (number(change.oldValue), number(change.newValue))
        if change.kind != .initial {
            board.increment(Board.changes)
            pauseSometimes()
            if isDeaf && Int.random(in: 0..<4) == 0 { return }
            if old != board[place] || old == new {
                let values = [board[place], old, new].map(describe(value:))
                say("received \(values[0]), then a change from \(values[1]) to \(values[2])")
                board.increment(Board.faults)
            }
        }
        board[place] = new
    }
}

/// Makes operations for one worker.
private struct Hand {
    let suite: DefaultsSuite
    let board: Board
    let stores: [AnyStore<Digit>]
    let client: Client
    /// The value that `cached` returns.
    var cached = [0, 0]

    init(_ suite: DefaultsSuite, _ board: Board, _ client: Client) {
        (self.suite, self.board, self.client) = (suite, board, client)
        stores = makeStores(suite)
    }

    /// Makes a random operation and records it.
    mutating func makeOperation(_ worker: Int, _ record: UnsafeMutablePointer<Operation>) {
        let kind = Operation.Kind.allCases.randomElement()!
        let argument = kind == .set ? Int.random(in: 1...3) : Int.random(in: 0..<(kind == .setBoth ? 16 : 4))
        // A process that is killed leaves an operation that has not returned.
        record.pointee = Operation(
            worker: worker, kind: kind, key: .random(in: 0..<2), argument: argument, begin: now())
        board.increment(Board.begun)
        let failures = board[Board.failures]
        do { record.pointee.result = try perform(record.pointee) } catch { record.pointee.result = Operation.failed }
        // `remove` throws no error: if something failed, perhaps nothing was removed.
        if kind != .remove || board[Board.failures] == failures { record.pointee.end = now() }
    }

    /// Returns what it read.
    private mutating func perform(_ operation: Operation) throws -> Int {
        let (store, argument) = (stores[operation.key], operation.argument)
        switch operation.kind {
        case .get:
            let read = number(
                argument == 0 ? try store.load() : argument == 1 ? suite[keys[operation.key]] : store.get())
            defer { cached[operation.key] = read }
            return client == .cached ? cached[operation.key] : read
        case .set:
            try store.save(Digit(argument))
        case .update where client == .inSteps:
            let old = number(try store.load())
            pauseSometimes()
            if let new = digit((old + argument) & 3) { try store.save(new) } else { store.remove() }
            return old
        case .update:
            return try store.updateStored { stored in
                pauseSometimes()
                let old = number(stored)
                stored = digit((old + argument) & 3)
                return old
            }
        case .remove:
            if argument < 2 { store.remove() } else { try store.updateStored { $0 = nil } }
        case .setBoth:
            return try suite.update { contents in
                pauseSometimes()
                let old = both(contents)
                for (key, new) in zip(keys, [argument & 3, argument >> 2]) {
                    if let new = digit(new) { contents[key] = new } else { contents.remove(key) }
                }
                // Makes the file compact now and then.
                if Int.random(in: 0..<8) == 0 {
                    contents[DefaultKey("filler", default: "")] = filler(.random(in: 0..<30_000))
                }
                return old
            }
        case .readBoth:
            if argument < 2 { return try readBoth(suite) }
            let (a, b) = try suite.read(keys[0], keys[1])
            return number(a) | number(b) << 2
        }
        return 0
    }
}

/// Lets other workers run in the middle of an operation.
private func pauseSometimes() { if Int.random(in: 0..<4) == 0 { usleep(.random(in: 0..<100)) } }
