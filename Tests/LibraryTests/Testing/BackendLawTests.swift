import Testing
import TypedDefaults
import TypedDefaultsTesting

/// Tests the laws themselves: each of them detects a backend that breaks it, and no other law does.
/// `LaggingBackend` keeps those of storage that lags.
struct BackendLawTests {
    private static let ofLagging = BackendLaw.lagging.filter { !BackendLaw.all.contains($0) }

    /// Returns how a backend with a fault breaks laws.
    ///
    /// - Parameter timeout: How long the law with the fault waits for what never comes.
    private func violations<Backend: DefaultsBackend>(
        of laws: [BackendLaw], with fault: BackendLaw, within timeout: Duration,
        _ makeBackend: @escaping @Sendable () -> Backend, reopening: @escaping @Sendable (Backend) -> Backend
    ) async throws -> [LawViolation] {
        var violations: [LawViolation] = []
        for law in laws {
            do {
                try await law.verify(within: law == fault ? timeout : .seconds(60), makeBackend, reopening: reopening)
            } catch let violation as LawViolation {
                violations.append(violation)
                if law != fault { Issue.record(violation) }
            }
        }
        return violations
    }

    @Test(arguments: BackendLaw.watching) func aWrongBackendBreaksExactlyItsLaw(law: BackendLaw) async throws {
        let isWaiting = law == .theWatchReportsChangesOfOthers
        let broken = try await violations(of: BackendLaw.watching, with: law, within: .seconds(isWaiting ? 0.1 : 60)) {
            WrongBackend(breaking: law)
        } reopening: {
            $0.reopened()
        }
        #expect(broken.map(\.law) == ["\(law)"])
    }

    @Test(arguments: ofLagging) func aWrongLaggingBackendBreaksExactlyItsLaw(law: BackendLaw) async throws {
        let isWaiting = law == .machinesConverge
        let broken = try await violations(of: BackendLaw.lagging, with: law, within: .seconds(isWaiting ? 0.5 : 60)) {
            WrongLaggingBackend(breaking: law)
        } reopening: {
            $0.peer()
        }
        #expect(broken.map(\.law) == ["\(law)"])
        if isWaiting { #expect(broken.first?.outcome.hasPrefix("the machines still read") == true) }
    }

    @Test func whatCannotBeCheckedFails() async throws {
        #expect(Set(BackendLaw.watching).count == BackendLaw.all.count + 4)
        for law in BackendLaw.watching where !BackendLaw.all.contains(law) {
            await #expect(throws: LawViolation.self) { try await law.verify { WrongBackend(breaking: nil) } }
        }
        #expect(Set(BackendLaw.lagging).count == BackendLaw.all.count + 6)
        for law in Self.ofLagging {
            await #expect(throws: LawViolation.self) { try await law.verify { WrongLaggingBackend(breaking: nil) } }
        }
    }
}
