import Testing
import TypedDefaults
import TypedDefaultsTesting

@testable import RemoteBackend

private let isOpen = DefaultKey("isOpen", default: true)
private let orders = DefaultKey("orders", default: 0)

struct RemoteBackendTests {
    /// Returns the backend of a machine, which asks the server all the time.
    private func machine(_ server: SettingsServer) -> RemoteBackend {
        let backend = RemoteBackend(server)
        Task { [weak backend] in
            while let backend {
                backend.refresh()
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        return backend
    }

    @Test(arguments: BackendLaw.lagging) func theBackendKeepsTheLaws(law: BackendLaw) async throws {
        try await law.verify {
            machine(SettingsServer())
        } reopening: {
            machine($0.server)
        }
    }

    /// An order is only taken while the shop is open, which another machine changes meanwhile.
    private func takeOrder(_ make: (SettingsServer) -> any DefaultsBackend) throws -> Int {
        let server = SettingsServer()
        func suite(_ backend: some DefaultsBackend) -> DefaultsSuite { DefaultsSuite(backend: backend) }
        let (here, there) = (suite(make(server)), suite(RemoteBackend(server)))
        var isFirst = true
        try here.update { contents in
            guard contents[isOpen] else { return }
            if isFirst { try there.update(isOpen) { $0 = false } }
            isFirst = false
            contents[orders] += 1
        }
        return here[orders]
    }

    @Test func aCommitOverAnOlderDocumentIsNotStored() throws {
        #expect(try takeOrder { RemoteBackend($0) } == 0)
        #expect(try takeOrder { BlindBackend(RemoteBackend($0)) } == 1)
    }
}

/// The control: it commits over whatever is stored.
private final class BlindBackend: BackendDecorator {
    private let remote: RemoteBackend
    var base: any DefaultsBackend { remote }

    init(_ remote: RemoteBackend) { self.remote = remote }

    func commit(_ edits: BackendEdits, over generation: UInt64?) throws(DefaultsError) -> CommitOutcome {
        remote.refresh()
        return remote.commit(edits, over: remote.generation)
    }
}
