import NIOCore

/// The two calls that the backend makes. All of etcd's own API that it uses is in `Messages.swift`.
protocol EtcdTransport: Sendable {
    /// The number of members that can be called.
    var memberCount: Int { get }
    /// Where the answers arrive.
    var eventLoop: any EventLoop { get }

    /// Sends one request to a member. The future fails with a ``CallError``, also if the
    /// member is silent for the limit.
    func call(_ request: EtcdRequest, at member: Int, within limit: TimeAmount) -> EventLoopFuture<[UInt8]>

    /// Sends one request to a member, and calls the closure on the event loop with each line of the
    /// answer.
    func stream(
        _ request: EtcdRequest, at member: Int, onLine: @escaping @Sendable ([UInt8]) -> Void
    ) -> EtcdStream

    /// Closes all connections.
    func close()
}

struct EtcdRequest: Sendable {
    var method: String
    var body: [UInt8]
    var token: String?
}

/// An answer that does not end by itself.
struct EtcdStream: Sendable {
    /// Succeeds with the reason when the stream has ended.
    let end: EventLoopFuture<CallError>
    let close: @Sendable () -> Void
}

/// Why a call failed.
struct CallError: Error {
    /// Whether the member may have received the request.
    var wasSent: Bool
    /// The gRPC code that the member answered; `nil` if it did not answer.
    var code: Int?
    /// For the code only: it may contain names of keys or users.
    var message: String

    /// Whether the request had no effect and has none later. Codes that are missing here, such as
    /// those for a timeout and for an unavailable leader, say nothing about that.
    var isRefusal: Bool { code.map { [3, 5, 7, 8, 9, 11, 12, 16].contains($0) } ?? false }
    var isAboutToken: Bool {
        code == 16 || message.contains("user name is empty") || message.contains("auth store is old")
    }

    static let tls = "TLS", end = "the end"
    static func notSent(_ message: String) -> CallError { CallError(wasSent: false, message: message) }
    static func noAnswer(_ message: String) -> CallError { CallError(wasSent: true, message: message) }
}
