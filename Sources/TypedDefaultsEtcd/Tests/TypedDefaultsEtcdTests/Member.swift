import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The member that `Scripts/test` has started.
enum Member {
    static let endpoint = ProcessInfo.processInfo.environment["TYPED_DEFAULTS_ETCD"]
    static let isRunning = ConditionTrait.enabled(if: endpoint != nil, "Scripts/test starts a member of etcd")

    static func prefix() -> String { "test-\(UInt64.random(in: .min ... .max))/" }

    static func configuration(_ prefix: String = prefix()) -> EtcdConfiguration {
        var configuration = EtcdConfiguration(endpoints: [endpoint!], prefix: prefix)
        (configuration.writeTimeout, configuration.patience) = (.seconds(20), .seconds(20))
        configuration.longestPause = .seconds(2)
        return configuration
    }
    static func backend(_ prefix: String = prefix()) throws -> EtcdBackend { try EtcdBackend(configuration(prefix)) }

    static func gateway() -> EtcdGateway {
        EtcdGateway([EtcdGateway.Member(endpoint!) { fatalError("no TLS") }!], connectTimeout: .seconds(60))
    }

    // Another program, such as `etcdctl`.
    private static func call(_ method: String, _ message: some Encodable) throws -> [UInt8] {
        let gateway = gateway()
        defer { gateway.close() }
        let request = EtcdRequest(method: method, body: json(message))
        return try gateway.call(request, at: 0, within: .seconds(60)).wait()
    }
    static func put(_ name: String, _ text: some Sequence<UInt8>) throws {
        _ = try call("/v3/kv/put", Operation.Put(key: base64(name.utf8), value: base64(text)))
    }
    static func put(_ name: String, _ text: String) throws { try put(name, Array(text.utf8)) }
    static func delete(_ name: String) throws {
        _ = try call("/v3/kv/deleterange", RangeRequest(key: base64(name.utf8)))
    }
    /// Forgets all earlier revisions.
    static func compact() throws {
        struct Compaction: Encodable { var revision: String }
        let bytes = try call(Method.range, RangeRequest(key: base64("x".utf8)))
        let now = try JSONDecoder().decode(RangeAnswer.self, from: Data(bytes)).header.number
        _ = try? call("/v3/kv/compaction", Compaction(revision: "\(now)"))
    }
    static func get(_ name: String) throws -> String? {
        let bytes = try call(Method.range, RangeRequest(key: base64(name.utf8)))
        let answer = try JSONDecoder().decode(RangeAnswer.self, from: Data(bytes))
        return answer.kvs?.first.map { String(decoding: $0.valueBytes, as: UTF8.self) }
    }
}

/// A transport that loses and delays calls.
final class FaultyTransport: EtcdTransport {
    enum Fault {
        /// The request does not arrive, and may arrive later as far as the client knows.
        case loseRequest
        /// There is no connection.
        case failToConnect
        /// The request arrives at once, and the answer is lost.
        case loseAnswer
        /// The request arrives when `release()` is called, and the answer is lost.
        case hold
        /// The member answers with a code.
        case refuse(Int, String)
        /// The request arrives, and the answer is this text.
        case answer(String)
        /// The closure runs before the request arrives. If it throws, the request does not arrive.
        case before(@Sendable () throws -> Void)
    }
    private let base = Member.gateway()
    private let faults = NIOLockedValueBox<[(method: String, fault: Fault)]>([])
    private let held = NIOLockedValueBox<[@Sendable () -> EventLoopFuture<[UInt8]>]>([])
    private let streams = NIOLockedValueBox<[EtcdStream]>([])
    private let endedStreams = NIOLockedValueBox(0)
    private let isCut = NIOLockedValueBox(false)
    /// Whether answers to reads are lost.
    let isRangeCut = NIOLockedValueBox(false)
    private let methods = NIOLockedValueBox<[String]>([])
    private let watches = NIOLockedValueBox<[@Sendable ([UInt8]) -> Void]>([])
    /// The lines that wait for `releaseLines()`; `nil` if none has to wait.
    private let heldLines = NIOLockedValueBox<[@Sendable () -> Void]?>(nil)

    var memberCount: Int { 1 }
    var eventLoop: any EventLoop { base.eventLoop }

    /// Makes the next calls of a method fail, one after the other.
    func add(_ method: String = Method.transaction, _ new: Fault...) {
        faults.withLockedValue { $0 += new.map { (method, $0) } }
    }
    func clear() { faults.withLockedValue { $0 = [] } }
    /// Ends all streams, and lets neither requests nor answers arrive until `join()`.
    func cut() throws {
        isCut.withLockedValue { $0 = true }
        for stream in streams.withLockedValue({ exchange(&$0, with: []) }) {
            stream.close()
            _ = try stream.end.wait()
        }
    }
    func join() { isCut.withLockedValue { $0 = false } }
    /// The number of calls of a method so far.
    func calls(of method: String) -> Int { methods.withLockedValue { $0.count { $0 == method } } }
    /// The number of watches that have not ended.
    var openStreams: Int { watches.withLockedValue { $0.count } - endedStreams.withLockedValue { $0 } }
    /// Lets no line of a watch arrive until `releaseLines()`.
    func holdLines() { heldLines.withLockedValue { $0 = [] } }
    func releaseLines() throws {
        try eventLoop.submit { [self] in
            for deliver in heldLines.withLockedValue({ exchange(&$0, with: nil) }) ?? [] { deliver() }
        }.wait()
    }
    /// Delivers a line as if the watch with that number had sent it.
    func deliver(_ line: String, toWatch number: Int) throws {
        let onLine = try #require(watches.withLockedValue { $0.indices.contains(number) ? $0[number] : nil })
        try eventLoop.submit { onLine(Array(line.utf8)) }.wait()
    }
    /// Lets a held request arrive.
    func release() throws {
        let send = try #require(held.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() })
        _ = try send().wait()
    }

    func call(_ request: EtcdRequest, at member: Int, within limit: TimeAmount) -> EventLoopFuture<[UInt8]> {
        func failed(_ error: CallError) -> EventLoopFuture<[UInt8]> { eventLoop.makeFailedFuture(error) }
        methods.withLockedValue { $0.append(request.method) }
        if isCut.withLockedValue({ $0 }) { return failed(.noAnswer("cut")) }
        if request.method == Method.range, isRangeCut.withLockedValue({ $0 }) { return failed(.noAnswer("cut")) }
        let send = { @Sendable [base] in base.call(request, at: member, within: limit) }
        let fault = faults.withLockedValue { faults -> Fault? in
            guard let first = faults.first, first.method == request.method else { return nil }
            return faults.removeFirst().fault
        }
        switch fault {
        case nil:
            return send().flatMapThrowing { [isCut] bytes in
                guard !isCut.withLockedValue({ $0 }) else { throw CallError.noAnswer("cut") }
                return bytes
            }
        case .loseRequest: return failed(.noAnswer("lost"))
        case .failToConnect: return failed(.notSent("no connection"))
        case .loseAnswer:
            return send().flatMapThrowing { _ in throw CallError.noAnswer("lost") }
        case .hold:
            held.withLockedValue { $0.append(send) }
            return failed(.noAnswer("held"))
        case .refuse(let code, let message): return failed(CallError(wasSent: true, code: code, message: message))
        case .answer(let text): return send().map { _ in Array(text.utf8) }
        case .before(let body):
            let promise = eventLoop.makePromise(of: [UInt8].self)
            DispatchQueue.global().async {
                do {
                    try body()
                    send().cascade(to: promise)
                } catch { promise.fail(error) }
            }
            return promise.futureResult
        }
    }
    func stream(
        _ request: EtcdRequest, at member: Int, onLine: @escaping @Sendable ([UInt8]) -> Void
    ) -> EtcdStream {
        watches.withLockedValue { $0.append(onLine) }
        let stream = base.stream(request, at: member) { [heldLines] line in
            let isHeld = heldLines.withLockedValue { held in
                held?.append { onLine(line) }
                return held != nil
            }
            if !isHeld { onLine(line) }
        }
        streams.withLockedValue { $0.append(stream) }
        stream.end.whenSuccess { [endedStreams] _ in endedStreams.withLockedValue { $0 += 1 } }
        return stream
    }
    func close() { base.close() }
}

/// Waits until a condition holds.
func eventually(
    _ condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while try !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("it did not happen in 30 s", sourceLocation: sourceLocation)
            return
        }
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(2))
    }
}
