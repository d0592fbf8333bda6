import Dispatch
import Foundation
import TypedDefaults

extension Command {
    /// Prints each change by any process until the tool is stopped or its output is closed.
    func watch(_ suite: OpenSuite, asJSON: Bool) throws(Failure) {
        try suite.using { handle in
            let changed = DispatchSemaphore(value: 0)
            let token = handle.observeAll { _ in changed.signal() }
            defer { token.cancel() }
            // Then the contents cannot be read, which ends the tool.
            suite.observeFailures { changed.signal() }
            var known = try handle.contents()
            Output.printDiagnostic("watching \(suite.path ?? suite.name)")
            while true {
                changed.wait()
                let now = try handle.contents()
                let lines = asJSON ? Self.objects(from: known, to: now) : Self.lines(from: known, to: now)
                for line in lines { try Output.write(Data(line.utf8)) }
                known = now
            }
        }
    }

    /// Returns a line for each key whose value differs.
    private static func lines(from old: SuiteContents, to new: SuiteContents) -> [String] {
        let changed = new.filter { old[$0.key] != $0.value }.map { line($0.key, $0.value, limit: 100) }
        let removed = old.filter { new[$0.key] == nil }.map { line($0.key, nil) }
        return changed + removed
    }

    /// Returns a line with a JSON object for each key whose value differs.
    private static func objects(from old: SuiteContents, to new: SuiteContents) -> [String] {
        (new.keys.filter { old[$0] != new[$0] } + old.keys.filter { new[$0] == nil }).map { key in
            var object: [String: PropertyList] = ["key": .string(key)]
            object["old"] = old[key]
            object["new"] = new[key]
            return PropertyList.dictionary(object).jsonText + "\n"
        }
    }
}
