import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import TypedDefaultsEtcd

/// The HTTP of the gateway, with a server that answers badly.
@Suite struct GatewayTests {
    let request = EtcdRequest(method: "/v3/kv/range", body: Array("{}".utf8))

    /// Starts a server that calls the closure with each request and its number.
    func gateway(_ answer: @escaping @Sendable (any Channel, Int) -> Void) throws -> EtcdGateway {
        let requests = NIOLockedValueBox(0)
        let server = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        Requests {
                            answer(
                                channel,
                                requests.withLockedValue { number in
                                    number += 1
                                    return number
                                })
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        let port = try #require(server.localAddress?.port)
        return EtcdGateway(
            [try #require(EtcdGateway.Member("127.0.0.1:\(port)") { fatalError("no TLS") })],
            connectTimeout: .seconds(60))
    }

    @Test func aMemberThatDoesNotAnswerFailsInTime() throws {
        let gateway = try gateway { _, _ in }
        let error = NIOLockedValueBox<CallError?>(nil)
        gateway.call(request, at: 0, within: .milliseconds(50)).whenFailure { failure in
            error.withLockedValue { $0 = failure as? CallError }
        }
        try eventually { error.withLockedValue { $0?.wasSent == true && $0?.code == nil } }
    }

    /// Each part comes in time, and all of them take longer.
    @Test func aLongAnswerArrives() throws {
        let gateway = try gateway { channel, _ in
            channel.write(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)), promise: nil)
            for number in 1...9 {
                channel.eventLoop.scheduleTask(in: .milliseconds(400 * Int64(number))) {
                    let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "\(number)")))
                    channel.writeAndFlush(part, promise: nil)
                    if number == 9 { channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil) }
                }
            }
        }
        #expect(try gateway.call(request, at: 0, within: .seconds(3)).wait() == Array("123456789".utf8))
    }

    @Test func aLostConnectionIsNotUsedAgain() throws {
        let gateway = try gateway { channel, number in
            if number == 1 { channel.close(promise: nil) } else { answer(channel, ["7"]) }
        }
        #expect(throws: CallError.self) { try gateway.call(request, at: 0, within: .seconds(10)).wait() }
        #expect(try gateway.call(request, at: 0, within: .seconds(10)).wait() == Array("7".utf8))
    }

    @Test func linesArriveWhole() throws {
        let parts = ["{\"a\"", ":1}\n", "\n", "{}\n{}\n{\"b\":", "2", "}", "\n", "rest"]
        let gateway = try gateway { channel, _ in answer(channel, parts) }
        let lines = NIOLockedValueBox<[String]>([])
        let stream = gateway.stream(request, at: 0) { line in
            lines.withLockedValue { $0.append(String(decoding: line, as: UTF8.self)) }
        }
        _ = try stream.end.wait()
        #expect(lines.withLockedValue { $0 } == [#"{"a":1}"#, "", "{}", "{}", #"{"b":2}"#])
    }
}

private func answer(_ channel: any Channel, _ parts: [String]) {
    channel.write(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)), promise: nil)
    for part in parts {
        channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: part))), promise: nil)
    }
    channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
}

private final class Requests: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    private let onEnd: () -> Void

    init(_ onEnd: @escaping () -> Void) { self.onEnd = onEnd }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { onEnd() }
    }
}
