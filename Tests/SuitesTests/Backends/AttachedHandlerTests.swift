import SettingsFile
import Testing
import TypedDefaults

struct AttachedHandlerTests {
    /// A lock of the closure itself would wrap it once more for each event. Calling or releasing it
    /// would then end the process.
    @Test func aHandlerOfManyEventsDoesNotOverflowTheStack() {
        let (handler, count) = (AttachedHandler(), Locked(0))
        handler.attach { _ in count.withLock { $0 += 1 } }
        for _ in 0..<300_000 { handler(.changed(keys: nil)) }
        #expect(count.withLock { $0 } == 300_000)
    }
}
