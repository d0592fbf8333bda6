import Testing
import TypedDefaults
import TypedDefaultsEtcd
import TypedDefaultsTesting

@Suite(Member.isRunning) struct LawTests {
    /// One member stores each commit of all tests on one disk, which other programs use as well.
    private let timeout = Duration.seconds(600)

    @Test(arguments: BackendLaw.lagging) func laws(_ law: BackendLaw) async throws {
        let prefix = Member.prefix()
        try await law.verify(within: timeout) {
            try Member.backend(prefix)
        } reopening: { _ in
            try Member.backend(prefix)
        }
    }

    /// The laws about reopened storage, but for two: other machines neither wait for a write nor
    /// see it at once.
    @Test(arguments: [BackendLaw.commitsSurviveReopening, .theWatchReportsChangesOfOthers])
    func lawsOfReopening(_ law: BackendLaw) async throws {
        let prefix = Member.prefix()
        try await law.verify(within: timeout) {
            try Member.backend(prefix)
        } reopening: { _ in
            try Member.backend(prefix)
        }
    }

    @Test(arguments: StoreLaw.all) func storeLaws(_ law: StoreLaw) async throws {
        try await law.verify(samples: [0, 1, 1_234_567], within: timeout) {
            UserDefault(DefaultKey("value", default: 0), in: DefaultsSuite(backend: try Member.backend())).store
        }
    }
}
