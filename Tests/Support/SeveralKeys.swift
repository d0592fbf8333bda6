import TypedDefaults

private struct Frame: Codable, Equatable, Sendable {
    var x = 0.5
    var y = 1.5
    var width = 2.5
    var title = "frame"
}
private struct Lens: DefaultConfig, Equatable {
    static let key = "Lens"
    var name = "prime"
}
private struct Flash: DefaultConfig, Equatable {
    static let key = "Flash"
    var level = 3
}
private struct Timer: DefaultConfig, Equatable {
    static let key = "Timer"
    var delay: Double? = 2
}

/// Calls every function that takes a list of keys, with up to six keys whose values differ in size.
/// Returns the calls that gave wrong values.
package func wrongCallsWithSeveralKeys() async throws -> [String] {
    let (flag, name) = (DefaultKey("flag", default: false), DefaultKey("name", default: ""))
    let (frame, count) = (DefaultKey("frame", default: Frame()), DefaultKey<Int?>("count"))
    let (list, level) = (DefaultKey("list", default: [0.5]), DefaultKey("level", default: UInt8(0)))
    let stored = Frame(x: -1, title: "a text that is longer than fifteen bytes")
    let long = "another text that is longer than fifteen bytes"
    let (seven, numbers, nine): (Int?, [Double], UInt8) = (7, [1, 2], 9)
    let suite = DefaultsSuite.inMemory()
    var wrong: [String] = []
    func check(_ call: String, _ isRight: Bool) { if !isRight { wrong.append(call) } }
    try suite.update { contents in
        (contents[flag], contents[name], contents[frame]) = (true, long, stored)
        (contents[count], contents[list], contents[level]) = (seven, numbers, nine)
    }

    check("read 1", try suite.read(name) == long)
    check("read 2", try suite.read(flag, name) == (true, long))
    check("read 3", try suite.read(flag, name, frame) == (true, long, stored))
    check("read 6", try suite.read(flag, name, frame, count, list, level) == (true, long, stored, seven, numbers, nine))

    for await first in suite.values(name) {
        check("values 1", first == long)
        break
    }
    for await values in suite.values(flag, name) {
        check("values 2", values == (true, long))
        break
    }
    let six = await suite.values(flag, name, frame, count, list, level).first { _ in true }
    check("values 6", six.map { $0 == (true, long, stored, seven, numbers, nine) } == true)

    let calls = Calls()
    let tokens = [
        suite.observe(flag, name, initial: true) { calls.add("observe 2", ($0, $1) == (true, long)) },
        suite.observe(flag, name, frame, count, list, level, initial: true) { one, two, three, four, five, six in
            calls.add("observe 6", (one, two, three, four, five, six) == (true, long, stored, seven, numbers, nine))
        },
    ]
    for token in tokens { token.cancel() }
    for number in [2, 6] { check("observe \(number)", calls.right.contains("observe \(number)")) }

    try suite.replaceContents(with: ["flag": "x", "name": 1, "frame": 2, "level": 3, "Flash": 4])
    let contents = try suite.contents()
    func isFaulty(_ faults: [DefaultsError], _ keys: String...) -> Bool { faults.map(\.key) == keys }
    check("faults 3", try isFaulty(suite.faults(flag, level, frame), "flag", "frame"))
    check("faults of contents 4", isFaulty(contents.faults(level, name, count, flag), "name", "flag"))
    func fails(_ key: String, _ body: () throws -> Void) -> Bool {
        do { try body() } catch { return (error as? DefaultsError)?.key == key }
        return false
    }
    check("checkReadability 4", fails("frame") { try suite.checkReadability(level, count, frame, flag) })
    check("types 3", fails("Flash") { try suite.checkReadability(Lens.self, Timer.self, Flash.self) })

    var edited = contents
    edited.remove(flag, list, level, name)
    check("remove of contents 4", edited.keys.sorted() == ["Flash", "frame"])
    suite.remove(flag, frame, level, name)
    check("remove 4", try suite.keys() == ["Flash"])
    try suite.update { contents in (contents[flag], contents[name], contents[level]) = (true, long, nine) }
    let other = DefaultsSuite.inMemory()
    try suite.copy(.keys(flag, name, count, level), to: other)
    check("selection 4", try other.read(flag, name, count, level) == (true, long, nil, nine))
    return wrong
}

/// The observers that were called with the right values: on this thread, before `observe` returns.
private final class Calls: @unchecked Sendable {
    private(set) var right: Set<String> = []
    func add(_ name: String, _ isRight: Bool) { if isRight { right.insert(name) } }
}
