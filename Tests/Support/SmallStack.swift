import Foundation

/// Runs `body` on a thread of its own. A stack of 512 KB is the size of secondary threads on Apple
/// platforms.
package func withSmallStack<Result: Sendable>(
    kilobytes: Int = 512, _ body: @escaping @Sendable () -> Result
) -> Result {
    let done = DispatchSemaphore(value: 0)
    // Safe: written before the signal, read after the wait.
    nonisolated(unsafe) var result: Result?
    let thread = Thread {
        result = body()
        done.signal()
    }
    thread.stackSize = kilobytes << 10
    thread.start()
    done.wait()
    return result!
}
