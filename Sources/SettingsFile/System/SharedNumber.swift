import CChecksum

/// A number that any thread can read without a lock. One thread at a time changes it.
package final class SharedNumber: Sendable {
    // Safe: the pointer never changes, and each access is that of one word.
    private let word: Unchecked<UnsafeMutablePointer<UInt64>>

    package init(_ value: UInt64) {
        word = Unchecked(.allocate(capacity: 1))
        word.value.initialize(to: value)
    }

    deinit { word.value.deallocate() }

    package var value: UInt64 { UInt64(load_acquiring(word.value)) }

    package func increment() { store_releasing(word.value, load_acquiring(word.value) &+ 1) }
}
