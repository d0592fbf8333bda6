import Dispatch
import Foundation
import TypedDefaults

extension Command {
    /// Prints each change by any process, until the tool is ended or nobody reads on.
    func watch(_ suite: OpenSuite) throws(Failure) {
        guard let path = suite.path else {
            throw .unavailable("“\(suite.name)” is no file, and only files can be watched here")
        }
        try suite.using { _ in
            let backend = FileBackend(path: path)
            let news = DispatchSemaphore(value: 0)
            backend.watch { _ in news.signal() }
            var known = try OpenSuite.snapshot(of: backend)
            Output.tell("watching \(path)")
            while true {
                news.wait()
                let now = try OpenSuite.snapshot(of: backend)
                for line in Self.lines(from: known, to: now) { try Output.write(Data(line.utf8)) }
                known = now
            }
        }
    }

    /// A line for each key that differs.
    private static func lines(
        from old: [(key: String, value: PropertyList)], to new: [(key: String, value: PropertyList)]
    ) -> [String] {
        // By bytes, as suites tell keys apart.
        func dictionary(_ settings: [(key: String, value: PropertyList)]) -> [[UInt8]: PropertyList] {
            Dictionary(settings.map { (Array($0.key.utf8), $0.value) }) { $1 }
        }
        let (before, after) = (dictionary(old), dictionary(new))
        let changed = new.filter { before[Array($0.key.utf8)] != $0.value }.map { line($0.key, $0.value, limit: 100) }
        let removed = old.filter { after[Array($0.key.utf8)] == nil }.map { line($0.key, nil) }
        return changed + removed
    }
}
