import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// How many forks lie between the first process that has used etcd and this one.
///
/// A child has neither event loops nor dispatch queues, so nothing there may wait for them or for a
/// lock.
enum Forks {
    private static let number = Atomic<UInt64>(0)
    private static let isCounting: Void = {
        _ = pthread_atfork(nil, nil) { Forks.number.add(1, ordering: .relaxed) }
    }()

    static func start() { isCounting }
    static var count: UInt64 { number.load(ordering: .relaxed) }

    /// Keeps what a value refers to until the process ends.
    static func keep(_ value: some Any) { _ = Unmanaged.passRetained(Kept(value)) }
    private final class Kept {
        let value: Any
        init(_ value: Any) { self.value = value }
    }
}
