import Foundation
import TypedDefaults

/// A command-line tool that keeps its settings in a suite of its own.
@main struct Notes {
    static func main() {
        do {
            let suite = try DefaultsSuite(name: "com.example.notes")
            // Options such as `-author Ada`, after the command, are settings for this run.
            suite.layers = [.arguments(), .stored]
            try run(CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-") }, in: suite)
        } catch {
            FileHandle.standardError.write(Data("notes: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ arguments: ArraySlice<String>, in suite: DefaultsSuite) throws {
        switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
        case ("get", nil, nil):
            for setting in Setting.all { write("\(setting.name) = \(try setting.get(suite))") }
        case ("get", let name?, nil):
            write(try setting(name).get(suite))
        case ("set", let name?, let text?):
            try setting(name).set(suite, text)
        case ("reset", nil, nil):
            try suite.replaceContents(with: [:])
        case ("reset", let name?, nil):
            try setting(name).set(suite, nil)
        case ("export", let path?, nil):
            try suite.contents().json().write(to: URL(filePath: path))
        case ("import", let path?, nil):
            // Keep the settings that the file does not contain.
            try suite.merge(SuiteContents(json: Data(contentsOf: URL(filePath: path))))
        case ("watch", nil, nil):
            watch(suite)
        default:
            throw Failure("usage: get [NAME] | set NAME VALUE | reset [NAME] | export FILE | import FILE | watch")
        }
    }

    /// Prints each change of a setting until standard input ends.
    static func watch(_ suite: DefaultsSuite) {
        let tokens = Setting.all.map { setting in
            setting.observe(suite) { value in write("\(setting.name) = \(value)") }
        }
        write("watching")
        withExtendedLifetime(tokens) {
            while readLine() != nil {}
        }
    }

    static func setting(_ name: String) throws -> Setting {
        guard let setting = Setting.all.first(where: { $0.name == name }) else {
            throw Failure("there is no setting \(name)")
        }
        return setting
    }

    /// Writes without a buffer, so that a program that reads a pipe gets each line immediately.
    static func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
