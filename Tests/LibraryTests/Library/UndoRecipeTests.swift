import Testing
import TypedDefaults

// The article *Recipes* shows how to use this class.

/// Changes of a suite that can be undone, the last one first.
final class UndoableChanges {
    private typealias Step = [(key: String, old: PropertyList?, new: PropertyList?)]
    private typealias Steps = ReferenceWritableKeyPath<UndoableChanges, [Step]>

    private let suite: DefaultsSuite
    private var (done, undone) = ([Step](), [Step]())

    init(_ suite: DefaultsSuite) { self.suite = suite }

    func make(_ body: (inout SuiteContents) throws -> Void) throws {
        let step = try suite.update { contents in
            let before = contents
            try body(&contents)
            return Set(before.keys).union(contents.keys).filter { before[$0] != contents[$0] }
                .map { ($0, before[$0], contents[$0]) }
        }
        if !step.isEmpty { (done, undone) = (done + [step], []) }
    }

    func undo() throws { try move(\.done, to: \.undone) }
    func redo() throws { try move(\.undone, to: \.done) }

    private func move(_ from: Steps, to: Steps) throws {
        guard let step = self[keyPath: from].last else { return }
        try suite.update { contents in
            // A value that has changed since stays.
            for (key, old, new) in step where contents[key] == new { contents[key] = old }
        }
        self[keyPath: from].removeLast()
        self[keyPath: to].append(step.map { ($0.key, $0.new, $0.old) })
    }
}

private let volume = DefaultKey("volume", default: 5)
private let theme = DefaultKey("theme", default: "light")

private struct Lens: DefaultConfig, Equatable {
    static let key = "Lens"
    var zoom = 1.0
    var curve = "linear"
}

struct UndoRecipeTests {
    @Test func aChangeIsUndoneAndRedone() throws {
        let suite = DefaultsSuite.inMemory()
        let changes = UndoableChanges(suite)
        try changes.make { $0[volume] = 7 }
        try changes.make { contents in
            contents[volume] = 8
            contents[theme] = "dark"
            contents[Lens.self].zoom = 2
        }
        try changes.make { _ = $0[volume] }
        let last = try suite.contents()
        try changes.undo()
        #expect(try suite.contents() == ["volume": 7])
        try changes.redo()
        #expect(try suite.contents() == last)
        for _ in 0..<3 { try changes.undo() }
        #expect(try suite.contents() == [:])
        try changes.make { $0[theme] = "blue" }
        try changes.redo()
        #expect(try suite.contents() == ["theme": "blue"])
    }

    @Test func whatOthersHaveChangedStays() throws {
        let suite = DefaultsSuite.inMemory()
        let changes = UndoableChanges(suite)
        try changes.make { contents in
            contents[volume] = 8
            contents[theme] = "dark"
        }
        suite[volume] = 9
        try changes.undo()
        #expect(try suite.contents() == ["volume": 9])
    }
}
