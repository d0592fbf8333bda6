import NIOConcurrencyHelpers
import NIOCore
import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The members of a cluster, and the token of the user.
final class Cluster: Sendable {
    private struct State {
        /// The member that the next call goes to.
        var member: Int
        /// The token of the user; `nil` if it must be asked for, and empty if the cluster has no
        /// users.
        var token: String?
    }

    let transport: any EtcdTransport
    private let credentials: EtcdConfiguration.Credentials?
    private let state: NIOLockedValueBox<State>
    private let patience: TimeAmount

    init(_ transport: any EtcdTransport, _ configuration: EtcdConfiguration) {
        (self.transport, credentials) = (transport, configuration.credentials)
        patience = TimeAmount(configuration.patience)
        // Different processes begin with different members.
        state = NIOLockedValueBox(
            State(member: .random(in: 0..<transport.memberCount), token: credentials == nil ? "" : nil))
    }

    /// The member that the next call goes to.
    var member: Int { state.withLockedValue { $0.member } }

    /// Lets the next calls go to another member.
    func leave(_ member: Int) {
        state.withLockedValue { state in
            if state.member == member { state.member = (member + 1) % transport.memberCount }
        }
    }

    /// Sends one request. If the token has expired, asks for a new one and repeats it once.
    func call<Answer: Decodable & Sendable>(
        _ method: String, _ message: some Encodable, at member: Int, as answer: Answer.Type = Answer.self
    ) -> EventLoopFuture<Answer> {
        call(method, body: json(message), at: member)
    }

    func call<Answer: Decodable & Sendable>(
        _ method: String, body: [UInt8], at member: Int, as answer: Answer.Type = Answer.self
    ) -> EventLoopFuture<Answer> {
        token(at: member).flatMap { [self] token in
            send(method, body, token, at: member).flatMapError { [self] error in
                guard credentials != nil, (error as? CallError)?.isAboutToken == true else {
                    return transport.eventLoop.makeFailedFuture(error)
                }
                forget(token)
                return self.token(at: member).flatMap { [self] token in send(method, body, token, at: member) }
            }
        }
    }

    private func send<Answer: Decodable & Sendable>(
        _ method: String, _ body: [UInt8], _ token: String, at member: Int
    ) -> EventLoopFuture<Answer> {
        let request = EtcdRequest(method: method, body: body, token: token.isEmpty ? nil : token)
        return transport.call(request, at: member, within: patience).flatMapThrowing { bytes in
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes))
            guard let answer, (answer as? any HeadedAnswer)?.header.isPossible != false else {
                throw CallError.noAnswer("unexpected answer")
            }
            return answer
        }
    }

    /// Forgets a token that a member has refused.
    func forget(_ token: String) {
        guard credentials != nil else { return }
        state.withLockedValue { if $0.token == token { $0.token = nil } }
    }

    /// Returns the token of the user, which is empty if the cluster has no users.
    func token(at member: Int) -> EventLoopFuture<String> {
        let loop = transport.eventLoop
        if let token = state.withLockedValue({ $0.token }) { return loop.makeSucceededFuture(token) }
        guard let credentials else { return loop.makeSucceededFuture("") }
        let message = json(Authentication(name: credentials.user, password: credentials.password))
        let answer: EventLoopFuture<Token> = send(Method.authenticate, message, "", at: member)
        return answer.map { $0.token }.flatMapErrorThrowing { error in
            guard let error = error as? CallError, error.code == 9 else { throw error }
            return ""
        }.map { [self] token in
            state.withLockedValue { $0.token = token }
            return token
        }
    }
}

extension CallError {
    /// Returns the error for the user. It contains neither stored values nor secrets.
    func forUser(key: String? = nil) -> DefaultsError {
        let text = message.lowercased()
        func error(_ kind: DefaultsError.Kind, _ reason: String) -> DefaultsError {
            DefaultsError(kind, key: key, reason: reason)
        }
        return switch code {
        case nil where message == CallError.tls:
            error(.unavailable, "there is no encrypted connection to etcd: one side does not accept a certificate")
        case nil where message == CallError.end: error(.unavailable, "a watch ends as soon as it has begun")
        case nil where message.hasPrefix("HTTP "): error(.unavailable, "etcd does not answer (\(message))")
        case nil: error(.unavailable, "etcd does not answer")
        case 7: error(.managed, "the user of etcd may not do this with these keys")
        case _ where text.contains("too large") || text.contains("larger than max"):
            error(.refused, "the values are larger than etcd accepts at once (--max-request-bytes, 1.5 MiB by default)")
        case _ where text.contains("too many operations"):
            error(.refused, "these are more changes than etcd accepts at once (--max-txn-ops, 128 by default)")
        case _ where text.contains("space exceeded"): error(.unavailable, "the database of etcd is full")
        case _ where text.contains("common"):
            error(
                .unavailable,
                "etcd's gateway refuses a client certificate with a common name while the cluster has users")
        case _ where text.contains("authentication failed"):
            error(.unavailable, "etcd does not accept the user or the password")
        case _ where isAboutToken: error(.unavailable, "the cluster has users, so a user and a password are needed")
        case 12:
            error(
                .unavailable,
                "the member, or a proxy before it, has no JSON gateway for the call (--enable-grpc-gateway)")
        default: error(.unavailable, "etcd refused the request with code \(code ?? 0)")
        }
    }
}
