import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Tests the laws themselves: each of them detects a backend that breaks it, and no other law does.
struct BackendLawTests {
    @Test(arguments: BackendLaw.watching) func aWrongBackendBreaksExactlyItsLaw(law: BackendLaw) async throws {
        var broken: [BackendLaw] = []
        for other in BackendLaw.watching {
            // The watch law waits for its whole timeout.
            let timeout = other == law && law == .theWatchReportsChangesOfOthers ? 0.1 : 60
            do {
                try await other.verify(within: .seconds(timeout)) {
                    WrongBackend(breaking: law)
                } reopening: {
                    $0.reopened()
                }
            } catch let violation as LawViolation {
                broken.append(other)
                if other != law { Issue.record(violation) }
            }
        }
        #expect(broken == [law])
    }

    @Test(arguments: BackendLaw.watching) func theBackendWithoutAFaultBreaksNone(law: BackendLaw) async throws {
        try await law.verify {
            WrongBackend(breaking: nil)
        } reopening: {
            $0.reopened()
        }
    }

    @Test func whatCannotBeCheckedFails() async throws {
        #expect(Set(BackendLaw.watching).count == BackendLaw.all.count + 4)
        for law in BackendLaw.watching where !BackendLaw.all.contains(law) {
            await #expect(throws: LawViolation.self) { try await law.verify { WrongBackend(breaking: nil) } }
        }
    }
}
