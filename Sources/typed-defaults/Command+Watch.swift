import Dispatch
import Foundation
import TypedDefaults

extension Command {
    /// Prints each change by any process until the tool is stopped or its output is closed.
    func watch(_ suite: OpenSuite) throws(Failure) {
        try suite.using { handle in
            let changed = DispatchSemaphore(value: 0)
            let token = handle.observeAll(prefix: "") { _ in changed.signal() }
            defer { token.cancel() }
            var known = try handle.contents()
            Output.printDiagnostic("watching \(suite.path ?? suite.name)")
            while true {
                changed.wait()
                let now = try handle.contents()
                for line in Self.lines(from: known, to: now) { try Output.write(Data(line.utf8)) }
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
}
