import NIOCore
import NIOHTTP1
import NIOPosix
import TypedDefaults
import TypedDefaultsEtcd

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// A server whose answer depends on a flag in etcd.
// usage: flag-server PORT ENDPOINT…

extension DefaultKey<Bool> {
    static let newCheckout = DefaultKey("newCheckout", default: false)
}

guard CommandLine.arguments.count > 2, let port = Int(CommandLine.arguments[1]) else {
    print("usage: flag-server PORT ENDPOINT…")
    exit(2)
}
var configuration = EtcdConfiguration(endpoints: Array(CommandLine.arguments[2...]), prefix: "shop/")
configuration.maximumStaleness = .seconds(10)
let flags: DefaultsSuite
do { flags = DefaultsSuite(backend: try EtcdBackend(configuration)) } catch {
    // A new process has no last known values. Only you know whether the defaults are safe.
    print("flag-server: \(error)")
    exit(1)
}
flags.onFailure = { print("flags: \($0)") }
let token = UserDefault(.newCheckout, in: flags).observe { change in
    print("newCheckout is \(change.newValue ?? false)")
}

final class Checkout: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    let flags: DefaultsSuite
    init(_ flags: DefaultsSuite) { self.flags = flags }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        // Reading never waits and runs no handler, so it is fine on an event loop. A write there
        // would throw.
        let text = flags[.newCheckout] ? "the new checkout\n" : "the old checkout\n"
        var head = HTTPResponseHead(version: .http1_1, status: .ok)
        head.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandler(Checkout(flags))
        }
    }
    .bind(host: "127.0.0.1", port: port).get()
print("listening on 127.0.0.1:\(port)")
try await server.closeFuture.get()
withExtendedLifetime(token) {}
