import SettingsFile
import Testing
import TypedDefaults

struct AttachedHandlerTests {
    /// A lock of the closure would wrap it once more for each event.
    @Test func aHandlerOfManyEventsDoesNotOverflowTheStack() async {
        await #expect(processExitsWith: .success) {
            let (handler, count) = (AttachedHandler(), Locked(0))
            handler.attach { _ in count.withLock { $0 += 1 } }
            for _ in 0..<300_000 { handler(.changed(keys: nil)) }
            #expect(count.withLock { $0 } == 300_000)
            // The exit releases the handler.
            withExtendedLifetime(handler) {}
        }
    }
}
