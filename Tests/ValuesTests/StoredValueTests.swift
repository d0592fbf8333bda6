import Foundation
import TestSupport
import Testing

@testable import TypedDefaults

/// Tests writes of an equal value.
struct StoredValueTests {
    /// - Parameter isRead: Whether the suite holds the value as a tree, as after reading a file.
    @Test(arguments: [false, true]) func anEqualValueIsStoredWithoutTheLockOfTheWriters(isRead: Bool) throws {
        let config = CameraConfig(savesToCameraRoll: false)
        let suite = DefaultsSuite.inMemory(isRead ? [CameraConfig.key: try PropertyList(encoding: config)] : [:])
        let store = PersistentStore<CameraConfig>(in: suite)
        #expect(store.get() == (isRead ? config : nil))
        store.set(config)
        // Another thread is inside an update for as long as this set takes.
        let (isInside, isWritten, isDone) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            try? store.updateStored { _ in
                isInside.signal()
                isWritten.wait()
            }
            isDone.signal()
        }
        isInside.wait()
        #expect(throws: Never.self) { try store.save(config) }
        isWritten.signal()
        isDone.wait()
        #expect(store.get() == config)
    }
}
