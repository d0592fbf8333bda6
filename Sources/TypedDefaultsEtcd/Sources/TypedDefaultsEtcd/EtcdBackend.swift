import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
public import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Settings in etcd, for a fleet of machines.
///
/// ```swift
/// let configuration = EtcdConfiguration(endpoints: ["http://etcd-1:2379", "http://etcd-2:2379"], prefix: "shop/")
/// let suite = DefaultsSuite(backend: try EtcdBackend(configuration))
/// ```
///
/// Reading never waits: this keeps a copy of all values of the suite and follows the cluster, so a
/// change by another machine arrives within milliseconds. A write blocks its thread until a
/// majority of the cluster has stored it; see ``TypedDefaults/DefaultsSuite/awaiting`` for code
/// that must not block. If another machine has written the suite since the body of a write began,
/// nothing is stored and the body runs again, so no update is lost.
///
/// Create one backend for each prefix in a process, and keep it: it listens until it is deallocated
/// or ``close()`` is called.
///
/// # Topics
///
/// ## Errors
///
/// A write that fails throws an error of kind `.unavailable` if the cluster did not answer within
/// ``EtcdConfiguration/writeTimeout``, `.unknownOutcome` if it is unknown whether the write was
/// stored, `.refused` for what exceeds a limit of etcd, and `.managed` if the user of etcd may only
/// read. A value in etcd that is not JSON, or is JSON that a setting cannot have, such as `null`, a
/// repeated key or an integer beyond 64 bits, reads as an error of kind `.unreadable`, and no write
/// but a removal replaces it.
// The life of a write:
//
// 1. `write`: the suite notes the generation of the mirror.
// 2. The suite reads from the mirror, and the body of the update runs.
// 3. `commit`, in EtcdBackend+Committing.swift: one transaction compares the number of the suite,
//    moves it, and stores the edits. Then the mirror has them.
// 4. The watch, in EtcdBackend+Watching.swift, delivers the commit to the mirrors of all machines.
public final class EtcdBackend: DefaultsBackend {
    struct State {
        var mirror: EtcdMirror
        var handler: (@Sendable (BackendEvent) -> Void)?
        var watch = WatchState()
        /// The number of watches in a row that ended without a useful answer.
        var failedWatches = 0
        /// Writers that wait until the mirror has reached a revision.
        var waiting: [(revision: Int64, semaphore: DispatchSemaphore)] = []
        /// The mirror is complete up to this revision of the cluster, which counts all suites.
        var provenRevision: Int64 = 0
        /// When the mirror was last known to be complete.
        var lastProof = ContinuousClock.now
        var isStale = false
        /// The last reported reason why changes do not arrive, so that it is reported once.
        var reported: DefaultsError?
        var isClosed = false
        var statistics = Statistics()
    }
    /// The current watch.
    struct WatchState {
        /// Events of watches with other numbers are ignored.
        var number = 0
        /// `nil` until a member has answered.
        var stream: EtcdStream?
        /// The watch has delivered all events up to this revision.
        var delivered: Int64 = 0
        /// A revision that the watch should have delivered already, and when that was found.
        var missing: (revision: Int64, since: ContinuousClock.Instant)?
        /// Once the mirror reaches this revision, it is known to have been complete at this time.
        var unproven: (revision: Int64, time: ContinuousClock.Instant)?
        let begin = ContinuousClock.now
        /// Whether the member, or a proxy before it, has accepted the watch.
        var isAccepted = false
        /// Whether the watch has delivered an event, or has lived for a heartbeat with nothing
        /// missing.
        var isUseful = false
    }
    /// What happened so far, for tests.
    struct Statistics {
        var conflicts = 0, resolved = 0, resyncs = 0, restores = 0, beats = 0
    }

    let configuration: EtcdConfiguration
    let cluster: Cluster
    let names: Names
    let state: NIOLockedValueBox<State>
    private let generationNumber = Atomic<UInt64>(1)
    /// Observers are called here: one that writes waits for the event loop.
    private let events = DispatchQueue(label: "TypedDefaultsEtcd.events")
    /// The name of the suite in messages, the limits, and that other machines may be faster.
    public let traits: BackendTraits

    /// Connects to a cluster and reads the suite. Blocks the thread meanwhile.
    ///
    /// - Throws: A `DefaultsError` of kind `.unavailable` if no member answers within
    ///   ``EtcdConfiguration/writeTimeout``, the cluster does not accept the user, or the process
    ///   was forked after it had used etcd; an error of SwiftNIO if a certificate cannot be read.
    public convenience init(_ configuration: EtcdConfiguration) throws {
        var context: NIOSSLContext?
        let members = try configuration.endpoints.map { endpoint in
            let member = try EtcdGateway.Member(endpoint) {
                if let context { return context }
                let new = try NIOSSLContext(configuration: configuration.tls.contents())
                context = new
                return new
            }
            guard let member else {
                throw DefaultsError(.unavailable, reason: "an endpoint is not an address such as http://etcd-1:2379")
            }
            return member
        }
        guard !members.isEmpty, !configuration.prefix.isEmpty else {
            throw DefaultsError(.invalidName, reason: "a suite in etcd needs an endpoint and a prefix")
        }
        guard configuration.credentials == nil || members.allSatisfy({ $0.tls != nil || $0.isOnThisMachine }) else {
            throw DefaultsError(
                .refused,
                reason: "a password would cross the network unencrypted; use an endpoint that begins with"
                    + " https://")
        }
        try self.init(configuration, EtcdGateway(members, connectTimeout: TimeAmount(configuration.patience)))
    }

    init(_ configuration: EtcdConfiguration, _ transport: any EtcdTransport) throws(DefaultsError) {
        self.configuration = configuration
        try Self.checkThread()
        names = Names(prefix: configuration.prefix)
        cluster = Cluster(transport, configuration)
        state = NIOLockedValueBox(State(mirror: EtcdMirror(names: names)))
        traits = BackendTraits(
            location: "etcd:\(configuration.prefix)", readsMayLag: true, writeTimeout: configuration.writeTimeout)
        try resync(until: .now + configuration.writeTimeout)
        watch(silent: 0)
        checkStaleness()
    }

    deinit { close() }

    /// Ends all connections. After that, reading and writing throw.
    public func close() {
        let stream = change { state in
            state.isClosed = true
            state.mirror.beginGeneration(nil)
            return exchange(&state.watch.stream, with: nil)
        }
        stream?.close()
        cluster.transport.close()
    }

    /// Changes the state, and then publishes the generation of the mirror.
    func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLockedValue { state in
            defer {
                generationNumber.store(state.mirror.generation, ordering: .releasing)
                let revision = state.mirror.revision
                let done = state.waiting.filter { $0.revision <= revision }
                if !done.isEmpty { state.waiting.removeAll { $0.revision <= revision } }
                for (_, semaphore) in done { semaphore.signal() }
            }
            return body(&state)
        }
    }

    /// Passes an event to the suite.
    func send(_ event: BackendEvent) {
        events.async { [weak self] in
            let handler = self?.state.withLockedValue { $0.handler }
            handler?(event)
        }
    }

    /// The process that has the threads for etcd.
    private static let process = ProcessInfo.processInfo.processIdentifier

    /// Throws where a call would never return: in a child after `fork`, and on an event loop.
    private static func checkThread() throws(DefaultsError) {
        guard ProcessInfo.processInfo.processIdentifier == process else {
            throw DefaultsError(
                .unavailable,
                reason: "the process was forked after it had used etcd, and the threads for etcd exist only in the"
                    + " parent; fork earlier, or start a program in the child with exec")
        }
        guard MultiThreadedEventLoopGroup.currentEventLoop != nil else { return }
        throw DefaultsError(
            .refused,
            reason: "this waits for etcd, which must not block an event loop; write with `awaiting`, such as"
                + " `try await suite.awaiting.update { … }`, and open the suite on another thread")
    }

    private func checkIsOpen(_ isClosed: Bool) throws(DefaultsError) {
        guard !isClosed else { throw DefaultsError(.unavailable, reason: "the backend was closed") }
    }

    private func checkIsReadable(_ state: State) throws(DefaultsError) {
        try checkIsOpen(state.isClosed)
        guard configuration.whenStale == .unavailable, state.isStale else { return }
        throw DefaultsError(
            .unavailable,
            reason: "etcd has not shown for more than \(configuration.maximumStaleness) that the values are current")
    }
}

/// Replaces a value and returns the old one.
func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
    defer { value = new }
    return value
}

// Reading
extension EtcdBackend {
    /// Throws if a write would never return.
    public func write(_ body: () throws(DefaultsError) -> Void) throws(DefaultsError) {
        try Self.checkThread()
        try checkIsOpen(state.withLockedValue { $0.isClosed })
        try body()
    }

    /// Returns the value that the mirror has.
    public func value(forKey key: String) throws(DefaultsError) -> PropertyList? {
        guard let json = try reading({ $0.entries[Array(key.utf8)]?.json }) else { return nil }
        do throws(DefaultsError) { return try PropertyList(json: Data(json)) } catch {
            // `etcdctl put` stores text without quotes.
            let start = json.first { !" \t\r\n".utf8.contains($0) }
            let isQuoted = start.map { "{[\"".utf8.contains($0) } ?? false
            let hint = error.kind == .unreadable && !isQuoted ? "; text needs quotes" : ""
            throw DefaultsError(
                .unreadable, key: key, reason: "the value in etcd is unreadable: \(error.reason)\(hint)")
        }
    }

    /// Returns the keys that the mirror has.
    public func keys() throws(DefaultsError) -> [String] {
        // A key that is not UTF-8 cannot be the key of a setting.
        try reading { mirror in mirror.entries.keys.compactMap { String(validating: $0, as: UTF8.self) } }
    }

    private func reading<Result>(_ body: (EtcdMirror) -> Result) throws(DefaultsError) -> Result {
        let result: Swift.Result<Result, DefaultsError> = state.withLockedValue { state in
            do throws(DefaultsError) {
                try checkIsReadable(state)
                return .success(body(state.mirror))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// The number of changes that the mirror has seen.
    public var generation: UInt64? { generationNumber.load(ordering: .acquiring) }

    /// Returns the keys that have changed.
    public func changes(since generation: UInt64) -> (keys: [String]?, generation: UInt64) {
        state.withLockedValue { state in
            let keys = state.mirror.changes(since: generation)
            return (keys?.compactMap { String(validating: $0, as: UTF8.self) }, state.mirror.generation)
        }
    }

    /// Takes the closure that receives changes by other machines.
    public func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
        guard subject == .failures else { return false }
        let old = state.withLockedValue { exchange(&$0.handler, with: handler) }
        withExtendedLifetime(old) {}
        return false
    }
}

extension EtcdConfiguration.TLS {
    func contents() throws -> TLSConfiguration {
        var contents = TLSConfiguration.makeClientConfiguration()
        if let authorities { contents.trustRoots = .file(authorities) }
        if let client {
            contents.certificateChain = try NIOSSLCertificate.fromPEMFile(client.certificates).map { .certificate($0) }
            contents.privateKey = .privateKey(try NIOSSLPrivateKey(file: client.key, format: .pem))
        }
        return contents
    }
}
