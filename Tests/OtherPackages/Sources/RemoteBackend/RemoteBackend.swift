import Synchronization
import TypedDefaults

/// Stands for a web server with one document, whose tag (*ETag*) changes with each version.
final class SettingsServer: Sendable {
    struct Answer: Sendable {
        var tag = "1"
        var values: [[UInt8]: PropertyList] = [:]
    }
    private let state = Mutex(Answer())

    /// `GET`
    func document() -> Answer { state.withLock { $0 } }

    /// `PUT` with `If-Match`: stores the document unless its tag has changed.
    ///
    /// - Returns: The new tag; `nil` for *412 Precondition Failed*.
    func store(_ values: [[UInt8]: PropertyList], ifMatch tag: String) -> String? {
        state.withLock { state in
            guard state.tag == tag else { return nil }
            state = Answer(tag: "\(Int(tag)! + 1)", values: values)
            return state.tag
        }
    }
}

final class RemoteBackend: DefaultsBackend {
    private struct Copy {
        var document: SettingsServer.Answer
        /// The number of documents that this has seen.
        var generation: UInt64 = 1
        var handler: (@Sendable (BackendEvent) -> Void)?
    }
    let server: SettingsServer
    private let copy: Mutex<Copy>
    /// Lets one thread at a time call the server, so that the copy never goes back.
    private let calls = Mutex(())

    init(_ server: SettingsServer) {
        self.server = server
        copy = Mutex(Copy(document: server.document()))
    }

    let traits = BackendTraits(readsMayLag: true)
    var generation: UInt64? { copy.withLock { $0.generation } }

    func value(forKey key: String) -> PropertyList? {
        copy.withLock { $0.document.values[Array(key.utf8)] }
    }

    func keys() -> [String] {
        copy.withLock { $0.document.values.keys.map { String(decoding: $0, as: UTF8.self) } }
    }

    func commit(_ edits: BackendEdits, over generation: UInt64?) -> CommitOutcome {
        let isStored = calls.withLock { _ in
            let copy = copy.withLock { $0 }
            guard copy.generation == generation else { return false }
            var values = copy.document.values
            for (key, value) in edits { values[Array(key.utf8)] = value }
            let tag = server.store(values, ifMatch: copy.document.tag)
            if let tag { replace(with: .init(tag: tag, values: values)) }
            return tag != nil
        }
        if !isStored { refresh() }
        return isStored ? .committed(generation: self.generation) : .changedMeanwhile
    }

    /// Makes reads return what the server has now. A timer calls this, too.
    func refresh() {
        let isNew = calls.withLock { _ in replace(with: server.document()) }
        if isNew { copy.withLock { $0.handler }?(.changed(keys: nil)) }
    }

    @discardableResult
    private func replace(with new: SettingsServer.Answer) -> Bool {
        copy.withLock { copy in
            guard copy.document.tag != new.tag else { return false }
            (copy.document, copy.generation) = (new, copy.generation + 1)
            return true
        }
    }

    func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        (nil, self.generation!)
    }

    func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        if subject == .failures { copy.withLock { $0.handler = handler } }
        return false
    }
}
