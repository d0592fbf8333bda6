import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#endif

/// etcd's JSON gateway over HTTP/1.1.
///
/// All of it runs on an event loop of this package, so threads of the program, such as those of a
/// task pool or of its own event loops, may be busy or wait for an answer.
final class EtcdGateway: EtcdTransport {
    struct Member: Sendable {
        var host: String
        var port: Int
        var tls: NIOSSLContext?
        var isOnThisMachine: Bool {
            // Not each name that looks so is an address.
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            return host == "localhost" || isAddress && (host == "::1" || host.hasPrefix("127."))
        }

        /// - Parameter endpoint: Such as “https://etcd-1:2379”.
        init?(_ endpoint: String, _ tls: () throws -> NIOSSLContext) rethrows {
            guard let url = URL(string: endpoint.contains("://") ? endpoint : "http://\(endpoint)"),
                let host = url.host, !host.isEmpty, ["http", "https"].contains(url.scheme), url.user == nil
            else { return nil }
            self.host = host.trimmingPrefix("[").hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
            port = url.port ?? 2_379
            self.tls = url.scheme == "https" ? try tls() : nil
        }
    }

    private static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()

    let members: [Member]
    private let connectTimeout: TimeAmount
    let eventLoop: any EventLoop
    /// The connections that no call uses, by member; `nil` after `close`.
    private let idle: NIOLoopBoundBox<[Int: [Connection]]?>
    var memberCount: Int { members.count }

    init(_ members: [Member], connectTimeout: TimeAmount) {
        (self.members, self.connectTimeout, eventLoop) = (members, connectTimeout, Self.loop)
        idle = NIOLoopBoundBox.makeBoxSendingValue([:], eventLoop: eventLoop)
    }

    func call(_ request: EtcdRequest, at member: Int, within limit: TimeAmount) -> EventLoopFuture<[UInt8]> {
        eventLoop.flatSubmit { [self] in
            let kept = idle.value?[member]?.popLast()
            let connection = kept.map { eventLoop.makeSucceededFuture($0) } ?? connect(to: member)
            return connection.flatMap { [self] connection in
                connection.send(request, within: limit).always { [self] _ in
                    if idle.value == nil {
                        connection.close()
                    } else if connection.isUsable {
                        idle.value?[member, default: []].append(connection)
                    }
                }
            }
        }
    }

    func stream(
        _ request: EtcdRequest, at member: Int, onLine: @escaping @Sendable ([UInt8]) -> Void
    ) -> EtcdStream {
        let connection = connect(to: member, onLine: onLine)
        let end = connection.flatMap { $0.send(request, within: nil) }.map { _ in CallError.noAnswer(CallError.end) }
            .recover { $0 as? CallError ?? .noAnswer("\($0)") }
        return EtcdStream(end: end) { connection.whenSuccess { $0.close() } }
    }

    func close() {
        eventLoop.execute { [self] in
            for connection in idle.value?.values.flatMap(\.self) ?? [] { connection.close() }
            idle.value = nil
        }
    }

    private func connect(
        to index: Int, onLine: (@Sendable ([UInt8]) -> Void)? = nil
    ) -> EventLoopFuture<Connection> {
        let member = members[index]
        let connection = Connection(host: "\(member.host):\(member.port)", onLine: onLine)
        var bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(connectTimeout)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            // A router on the way may forget a watch that is silent for minutes, and no heartbeat
            // of another connection would notice.
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls = member.tls {
                        // The extension of TLS that sends a name takes no address.
                        let isAddress = (try? SocketAddress(ipAddress: member.host, port: 0)) != nil
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : member.host))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(connection)
                }
            }
        #if canImport(Glibc)
            // Asks after 20 seconds of silence, and then three times each 5 seconds.
            for (option, value) in [(TCP_KEEPIDLE, 20), (TCP_KEEPINTVL, 5), (TCP_KEEPCNT, 3)] as [(CInt, Int)] {
                bootstrap = bootstrap.channelOption(.tcpOption(.init(rawValue: option)), value: value)
            }
        #endif
        return bootstrap.connect(host: member.host, port: member.port)
            .map { channel in
                connection.channel = channel
                return connection
            }
            .flatMapErrorThrowing { throw CallError.notSent("no connection: \($0)") }
    }
}

/// One connection, for one request at a time.
// Safe: used on the event loop of its channel only.
private final class Connection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The limit for all values of a suite, and for a line of a watch.
    private static let longestAnswer = 256 << 20

    private let host: String
    private let onLine: (@Sendable ([UInt8]) -> Void)?
    fileprivate(set) var channel: (any Channel)!
    private var answer: EventLoopPromise<[UInt8]>?
    private var status = 200
    private var body: [UInt8] = []
    /// How many bytes of `body` are known to contain no end of a line.
    private var searched = 0
    private(set) var isUsable = true
    /// How long the answer may be silent, and when it must be complete.
    private var limit: (silence: TimeAmount, end: NIODeadline)?
    private var timer: Scheduled<Void>?

    init(host: String, onLine: (@Sendable ([UInt8]) -> Void)?) { (self.host, self.onLine) = (host, onLine) }

    func close() { fail("the connection was closed") }

    func send(_ request: EtcdRequest, within limit: TimeAmount?) -> EventLoopFuture<[UInt8]> {
        let channel = channel!
        guard isUsable else {
            return channel.eventLoop.makeFailedFuture(CallError.notSent("the connection was lost"))
        }
        let promise = channel.eventLoop.makePromise(of: [UInt8].self)
        answer = promise
        self.limit = limit.map { ($0, .now() + $0 * 15) }
        startTimer()
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: request.method)
        head.headers = ["Host": host, "Content-Type": "application/json", "Content-Length": "\(request.body.count)"]
        if let token = request.token { head.headers.add(name: "Authorization", value: token) }
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: request.body))), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        return promise.futureResult.always { _ in self.timer?.cancel() }
    }

    /// Begins to wait for the next part of the answer. All values of a suite may take long.
    private func startTimer() {
        timer?.cancel()
        timer = limit.map { limit in
            channel.eventLoop.scheduleTask(deadline: min(.now() + limit.silence, limit.end)) {
                self.fail("no answer in time")
            }
        }
    }

    private func fail(_ reason: String) {
        isUsable = false
        answer?.fail(CallError.noAnswer(reason))
        answer = nil
        channel?.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body(let part):
            guard body.count + part.readableBytes <= Self.longestAnswer else { return fail("an endless answer") }
            body.append(contentsOf: part.readableBytesView)
            if answer != nil { startTimer() }
            if status == 200, let onLine { takeLines(onLine) }
        case .end:
            let (bytes, promise) = (body, answer)
            (body, answer, searched) = ([], nil, 0)
            guard status != 200 else {
                promise?.succeed(bytes)
                return
            }
            promise?.fail(error(bytes))
        }
    }

    /// A line can span several parts, and a part can hold several lines.
    private func takeLines(_ onLine: ([UInt8]) -> Void) {
        while let end = body[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            onLine(Array(body[..<end]))
            body.removeSubrange(...end)
            searched = 0
        }
        searched = body.count
    }

    private func error(_ bytes: [UInt8]) -> CallError {
        let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(bytes))
        if let refusal, let code = refusal.code {
            return CallError(wasSent: true, code: code, message: refusal.message ?? "")
        }
        // Some answers are plain text, such as the one about certificates with a common name.
        return switch status {
        case 400: CallError(wasSent: true, code: 3, message: String(decoding: bytes, as: UTF8.self))
        case 404: CallError(wasSent: true, code: 12, message: "no gateway")
        default: .noAnswer("HTTP \(status)")
        }
    }

    func channelInactive(context: ChannelHandlerContext) { fail("the connection was lost") }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isAboutTLS = error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
        fail(isAboutTLS ? CallError.tls : "\(error)")
    }
}
