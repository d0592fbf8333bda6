import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Tests the laws of storage that lags: `LaggingBackend` keeps them, and each of them detects a
/// backend that breaks it, and no other law does.
struct LaggingBackendLawTests {
    private static let laws = BackendLaw.lagging.filter { !BackendLaw.all.contains($0) }

    @Test(arguments: laws) func aWrongBackendBreaksExactlyItsLaw(law: BackendLaw) async throws {
        var broken: [BackendLaw] = []
        for other in BackendLaw.lagging {
            // The law of converging waits for its whole timeout.
            let isWaiting = other == law && law == .machinesConverge
            do {
                try await other.verify(within: .seconds(isWaiting ? 0.5 : 60)) {
                    WrongLaggingBackend(breaking: law)
                } reopening: {
                    $0.peer()
                }
            } catch let violation as LawViolation {
                broken.append(other)
                if other != law { Issue.record(violation) }
                if isWaiting { #expect(violation.outcome.hasPrefix("the machines still read")) }
            }
        }
        #expect(broken == [law])
    }

    @Test(arguments: BackendLaw.lagging) func theBackendWithoutAFaultBreaksNone(law: BackendLaw) async throws {
        try await law.verify {
            WrongLaggingBackend(breaking: nil)
        } reopening: {
            $0.peer()
        }
    }

    @Test func whatCannotBeCheckedFails() async throws {
        #expect(Set(BackendLaw.lagging).count == BackendLaw.all.count + 6)
        for law in Self.laws {
            await #expect(throws: LawViolation.self) { try await law.verify { WrongLaggingBackend(breaking: nil) } }
        }
    }
}
