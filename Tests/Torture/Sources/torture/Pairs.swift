import Synchronization
import TypedDefaults

#if canImport(Glibc)
    import Glibc
#endif

/// Returns memory that all processes that name its file share, at first full of zeros.
func sharedMemory(_ path: String, bytes: Int) -> UnsafeMutableRawPointer {
    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    guard descriptor >= 0, ftruncate(descriptor, bytes) == 0,
        let start = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), start != MAP_FAILED
    else { fail("ERROR cannot share memory at \(path)") }
    close(descriptor)
    return start
}

/// The highest acknowledged number, in memory that processes share.
struct SharedNumber {
    // Never unmapped, because it is needed until the process ends.
    private let number: UnsafeMutablePointer<Atomic<Int>>

    init(_ path: String) { number = sharedMemory(path, bytes: 8).bindMemory(to: Atomic<Int>.self, capacity: 1) }

    var value: Int { number.pointee.load(ordering: .acquiring) }
    func raise(to new: Int) { number.pointee.max(new, ordering: .releasing) }
}

/// How a writer commits a pair.
enum PairWriting: String {
    case together = "pairs"
    /// Commits each half separately.
    case apart = "pairs-apart"
    /// Acknowledges the pair before committing it.
    case early = "pairs-early"
}

/// Writes the same number to two keys, one higher each time, while other processes do the same. A
/// filler of varying length makes the file compact every few commits. Prints the number of pairs
/// and of timeouts.
func writePairs(_ suite: DefaultsSuite, _ acknowledged: SharedNumber, _ writing: PairWriting, seconds: Int) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    var (count, timeouts) = (0, 0)
    while ContinuousClock.now < end {
        do {
            let next = try suite.update { contents in
                let next = number(contents["left"]) + 1
                if writing == .early { acknowledged.raise(to: next) }
                contents["left"] = .integer(.init(next))
                if writing != .apart { setRight(&contents, next) }
                return next
            }
            if writing == .apart {
                // Another process may have committed a higher number in between.
                try suite.update { contents in setRight(&contents, max(next, number(contents["right"]))) }
            }
            acknowledged.raise(to: next)
            count += 1
        } catch let error as DefaultsError where error.kind == .timedOut {
            timeouts += 1
        }
    }
    say("\(count) \(timeouts)")
}

private func setRight(_ contents: inout SuiteContents, _ number: Int) {
    contents["right"] = .integer(.init(number))
    contents["filler"] = .string(filler(number * 2_654_435_761 % 72_000))
}

private func number(_ value: PropertyList?) -> Int {
    if case .integer(let integer) = value { Int(integer) } else { 0 }
}

/// Reads the two keys alternately.
///
/// Both are committed together, so no read may return less than the one before it; a smaller number
/// means a torn pair. A read may not return less than what was acknowledged before it began; a
/// smaller number is old. Prints the numbers of reads, of pairs seen, of torn pairs and of old
/// numbers.
func readPairs(_ suite: DefaultsSuite, _ acknowledged: SharedNumber, seconds: Int) {
    suite.onFailure = { fail("ERROR \($0)") }
    let left = UserDefault(DefaultKey("left", default: 0), in: suite).store
    let right = UserDefault(DefaultKey("right", default: 0), in: suite).store
    let end = ContinuousClock.now + .seconds(seconds)
    var (reads, pairs, torn, old) = (0, 0, 0, 0)
    var last = 0
    func read(_ store: AnyStore<Int>) {
        let known = acknowledged.value
        let number = store.get() ?? 0
        if number != last {
            if number > last { pairs += 1 } else { torn += 1 }
            last = number
        }
        if number < known { old += 1 }
    }
    while ContinuousClock.now < end {
        for _ in 0..<500 {
            read(left)
            read(right)
        }
        reads += 1_000
    }
    say("\(reads) \(pairs) \(torn) \(old)")
}

func findPair(_ suite: DefaultsSuite) {
    say("\(suite[DefaultKey("left", default: 0)]) \(suite[DefaultKey("right", default: 0)])")
}
