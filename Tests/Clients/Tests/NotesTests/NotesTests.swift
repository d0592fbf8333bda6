import Foundation
import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import Notes

@Suite(.serialized) struct NotesTests {
    let tool = try! Tool()

    @Test func getReturnsDefaultsAndCreatesNoFile() throws {
        let lines = "author = anonymous\nnotesPerPage = 20\nfontSize = 12.0\ntheme = light\nwrapsLines = true\n"
        #expect(try tool.run("get") == lines)
        #expect(!FileManager.default.fileExists(atPath: tool.file.path))
    }

    @Test func aLaterProcessReadsWhatAnEarlierOneSet() throws {
        try tool.run("set", "author", "Ada")
        try tool.run("set", "notesPerPage", "7")
        try tool.run("set", "theme", "dark")
        #expect(try tool.run("get", "author") == "Ada\n")
        #expect(try tool.run("get", "notesPerPage") == "7\n")
        #expect(try tool.run("get", "theme") == "dark\n")
        #expect(try tool.run("get", "fontSize") == "12.0\n")
    }

    @Test func invalidArgumentsFailAndWriteNothing() throws {
        #expect(throws: Tool.ExitStatus(code: 1)) { try tool.run("set", "notesPerPage", "many") }
        #expect(throws: Tool.ExitStatus(code: 1)) { try tool.run("set", "theme", "red") }
        #expect(throws: Tool.ExitStatus(code: 1)) { try tool.run("set", "color", "red") }
        #expect(throws: Tool.ExitStatus(code: 1)) { try tool.run("forget") }
        #expect(!FileManager.default.fileExists(atPath: tool.file.path))
    }

    @Test func resetRestoresOneSettingOrAll() throws {
        try tool.run("set", "author", "Ada")
        try tool.run("set", "fontSize", "9")
        try tool.run("set", "wrapsLines", "false")
        try tool.run("reset", "fontSize")
        #expect(try tool.run("get", "fontSize") == "12.0\n")
        #expect(try tool.run("get", "wrapsLines") == "false\n")
        try tool.run("reset", "author")
        #expect(try tool.run("get", "author") == "anonymous\n")
        #expect(try tool.run("get", "wrapsLines") == "false\n")
        try tool.run("reset")
        #expect(try DefaultsSuite(file: tool.file).keys().isEmpty)
    }

    @Test func importRestoresWhatExportWrote() throws {
        let first = tool.home.appending(path: "first.json").path
        let second = tool.home.appending(path: "second.json").path
        try tool.run("set", "author", "A\u{301}da \"$null\"")
        try tool.run("set", "fontSize", "0.1")
        try tool.run("export", first)
        let other = try Tool()
        try other.run("set", "notesPerPage", "3")
        try other.run("import", first)
        #expect(try other.run("get", "author") == "A\u{301}da \"$null\"\n")
        #expect(try other.run("get", "notesPerPage") == "3\n", "import keeps the other settings")
        try other.run("reset", "notesPerPage")
        try other.run("export", second)
        #expect(try Data(contentsOf: URL(filePath: first)) == Data(contentsOf: URL(filePath: second)))
    }

    @Test func aDamagedImportChangesNothing() throws {
        try tool.run("set", "author", "Ada")
        let file = tool.home.appending(path: "bad.json")
        try Data(#"{"author": "Grace", "notesPerPage": }"#.utf8).write(to: file)
        #expect(throws: Tool.ExitStatus(code: 1)) { try tool.run("import", file.path) }
        #expect(try tool.run("get", "author") == "Ada\n")
    }

    @Test func argumentsAreSettingsForOneRun() throws {
        try tool.run("set", "author", "Ada")
        let author = "-Gr\u{E9}ce & \"Ho\tpper\"\n\u{1F469}\u{200D}\u{1F4BB} \u{65}\u{301}"
        let settings = [String].defaults {
            $0[.author] = author
            $0[.notesPerPage] = -3
            $0[EditorConfig.self].fontSize = 0.1
            $0[EditorConfig.self].theme = .dark
        }
        #expect(try tool.run("get", "author", settings: settings) == author + "\n")
        #expect(
            try tool.run("get", settings: settings)
                == "author = \(author)\nnotesPerPage = -3\nfontSize = 0.1\ntheme = dark\nwrapsLines = true\n")
        try tool.run("set", "wrapsLines", "false", settings: settings)
        try tool.run("set", "notesPerPage", "5", settings: settings)
        #expect(
            try tool.run("get", settings: ["-notesPerPage", "7", "-fontSize", "9"])
                == "author = Ada\nnotesPerPage = 7\nfontSize = 12.0\ntheme = light\nwrapsLines = false\n")
        #expect(try tool.run("get", "notesPerPage", settings: ["-notesPerPage", "many"]) == "5\n")
    }

    @Test func watchPrintsTheChangesOfOtherProcesses() throws {
        let watcher = try tool.start("watch")
        #expect(watcher.nextLine() == "watching")
        try tool.run("set", "author", "Ada")
        #expect(watcher.nextLine() == "author = Ada")
        try tool.run("set", "author", "Ada")
        try tool.run("set", "theme", "dark")
        #expect(watcher.nextLine() == "theme = dark", "an equal value and other properties are no change")
        try tool.run("reset")
        #expect(Set([watcher.nextLine(), watcher.nextLine()]) == ["author = anonymous", "theme = light"])
        #expect(watcher.stop() == 0)
    }

    @Test func thisProcessObservesTheTool() async throws {
        let suite = try DefaultsSuite(file: tool.file)
        let (values, continuation) = AsyncStream.makeStream(of: Int?.self)
        let token = suite.observe(.notesPerPage) { continuation.yield($0.newValue) }
        try tool.run("set", "notesPerPage", "5")
        try tool.run("reset", "notesPerPage")
        let timeout = Task {
            try await Task.sleep(for: .seconds(10))
            continuation.finish()
        }
        var heard: [Int?] = []
        for await value in values {
            heard.append(value)
            if value == 20 { break }
        }
        timeout.cancel()
        token.cancel()
        // A change that is overwritten before it is noticed may be missed.
        #expect(heard == [5, 20] || heard == [20])
        #expect(suite[.notesPerPage] == 20)
    }

    @Test func processesThatSetPropertiesOfOneConfigLoseNothing() throws {
        for _ in 0..<5 {
            try tool.run("reset")
            let running = try [
                tool.start("set", "fontSize", "9"), tool.start("set", "theme", "dark"),
                tool.start("set", "wrapsLines", "false"), tool.start("set", "author", "Ada"),
                tool.start("set", "notesPerPage", "1"),
            ]
            for process in running { #expect(process.stop() == 0) }
            let lines = "author = Ada\nnotesPerPage = 1\nfontSize = 9.0\ntheme = dark\nwrapsLines = false\n"
            #expect(try tool.run("get") == lines)
        }
    }
}
