import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

@testable import TypedDefaultsEtcd

/// A proxy before the member that passes everything on, except watches.
final class WatchProxy: Sendable {
    /// What it does to a watch.
    enum Fault: String, CaseIterable, Sendable {
        /// It holds the answer back until there are 8 KiB, as proxies with buffers do.
        case buffers
        /// It ends the answer at once.
        case cuts
        /// It answers 404.
        case refuses
        /// It loses its connection to the member after the first line, and keeps the client's.
        case loses
    }
    private let server: any Channel
    private let requests = NIOLockedValueBox<[(path: String, time: ContinuousClock.Instant)]>([])

    var endpoint: String { "127.0.0.1:\(server.localAddress!.port!)" }
    /// Returns the number of calls before a watch.
    func calls(beforeWatch number: Int) -> Int {
        requests.withLockedValue { requests in
            let watches = requests.indices.filter { requests[$0].path == Method.watch }
            return watches[number - 1]
        }
    }
    /// When watches were asked for.
    var watches: [ContinuousClock.Instant] {
        requests.withLockedValue { requests in requests.filter { $0.path == Method.watch }.map(\.time) }
    }

    init(_ fault: Fault, before endpoint: String) throws {
        let address = endpoint.split(separator: "/").last!.split(separator: ":")
        let (host, port) = (String(address[0]), Int(address[1])!)
        server = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [requests] channel in
                channel.eventLoop.makeCompletedFuture {
                    let client = ClientSide(fault, host, port) { path in
                        requests.withLockedValue { $0.append((path, .now)) }
                    }
                    try channel.pipeline.syncOperations.addHandler(client)
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }
    func close() { server.close(promise: nil) }
}

/// The side of the client of one connection. Requests come one after the other, each of them in one
/// or more parts whose first begins with its head.
private final class ClientSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let fault: WatchProxy.Fault
    private let host: String
    private let port: Int
    private let onRequest: @Sendable (String) -> Void
    private var member: EventLoopFuture<any Channel>?

    init(
        _ fault: WatchProxy.Fault, _ host: String, _ port: Int, _ onRequest: @escaping @Sendable (String) -> Void
    ) {
        (self.fault, self.host, self.port, self.onRequest) = (fault, host, port, onRequest)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        let words = part.getString(at: part.readerIndex, length: min(64, part.readableBytes))?.split(separator: " ")
        let path = words?.first == "POST" ? words.map { String($0[1]) } : nil
        if let path { onRequest(path) }
        let (channel, isWatch) = (context.channel, path == Method.watch)
        switch fault {
        case .cuts where isWatch: return answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", on: channel)
        case .refuses where isWatch:
            return answer("HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found", on: channel)
        default: break
        }
        if member == nil {
            let applied = isWatch ? fault : nil
            member = ClientBootstrap(group: context.eventLoop)
                .channelInitializer { member in
                    member.eventLoop.makeCompletedFuture {
                        try member.pipeline.syncOperations.addHandler(MemberSide(channel, applied))
                    }
                }
                .connect(host: host, port: port)
        }
        member!.whenSuccess { $0.writeAndFlush(part, promise: nil) }
        member!.whenFailure { _ in channel.close(promise: nil) }
    }
    func channelInactive(context: ChannelHandlerContext) { member?.whenSuccess { $0.close(promise: nil) } }

    private func answer(_ text: String, on channel: any Channel) {
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }
}

private final class MemberSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let client: any Channel
    private let fault: WatchProxy.Fault?
    private var held = ByteBuffer()

    init(_ client: any Channel, _ fault: WatchProxy.Fault?) { (self.client, self.fault) = (client, fault) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        held.writeBuffer(&part)
        guard fault != .buffers || held.readableBytes >= 8_192 else { return }
        client.writeAndFlush(held, promise: nil)
        held = ByteBuffer()
        if fault == .loses { context.close(promise: nil) }
    }
    func channelInactive(context: ChannelHandlerContext) { if fault != .loses { client.close(promise: nil) } }
}
