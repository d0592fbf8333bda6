import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

@Suite struct MessageTests {
    func text(_ message: some Encodable) -> String { String(decoding: json(message), as: UTF8.self) }

    /// The gateway ignores fields that it does not know, so each name counts.
    @Test func requestsHaveTheNamesOfTheProtocol() {
        let transaction = Transaction(
            compare: [Comparison(key: "a", mod_revision: "7")],
            success: [
                Operation(request_put: .init(key: "a", value: "v")),
                Operation(request_delete_range: .init(key: "a")),
            ],
            failure: [
                Operation(
                    request_range: RangeRequest(
                        key: "a", range_end: "b", limit: "1", sort_order: "DESCEND", sort_target: "MOD", keys_only: true
                    ))
            ])
        #expect(
            text(transaction) == """
                {"compare":[{"key":"a","mod_revision":"7","result":"EQUAL","target":"MOD"}],\
                "failure":[{"request_range":{"key":"a","keys_only":true,"limit":"1","range_end":"b",\
                "sort_order":"DESCEND","sort_target":"MOD"}}],\
                "success":[{"request_put":{"key":"a","value":"v"}},{"request_delete_range":{"key":"a"}}]}
                """)
        #expect(
            text(RangeRequest(key: "a", keys_only: true, min_mod_revision: "7", revision: "8"))
                == #"{"key":"a","keys_only":true,"min_mod_revision":"7","revision":"8"}"#)
        #expect(
            text(Watch(create_request: .init(key: "a", range_end: "b", start_revision: "5")))
                == #"{"create_request":{"key":"a","range_end":"b","start_revision":"5"}}"#)
        #expect(text(Authentication(name: "n", password: "p")) == #"{"name":"n","password":"p"}"#)
    }

    /// Of these, only the text tells them apart.
    @Test(arguments: [
        (3, "etcdserver: request is too large", DefaultsError.Kind.refused),
        (8, "grpc: received message larger than max (8000012 vs. 2097152)", .refused),
        (3, "etcdserver: too many operations in txn request", .refused),
        (3, "etcdserver: authentication failed, invalid user ID or password", .unavailable),
        (3, "etcdserver: user name is empty", .unavailable),
        (16, "etcdserver: invalid auth token", .unavailable),
        (8, "etcdserver: mvcc: database space exceeded", .unavailable),
        (7, "etcdserver: permission denied", .managed),
        (3, "CommonName of client sending a request against gateway will be ignored", .unavailable),
        (12, "no gateway", .unavailable),
        (9, "etcdserver: something new", .unavailable),
    ]) func refusalsHaveAKind(_ code: Int, _ message: String, _ kind: DefaultsError.Kind) {
        let error = CallError(wasSent: true, code: code, message: message)
        #expect(error.isRefusal)
        #expect(error.forUser(key: "a").kind == kind)
        #expect(!error.forUser().reason.contains("etcdserver"))
    }

    @Test(arguments: [1, 2, 4, 10, 13, 14]) func otherCodesSayNothingAboutTheOutcome(_ code: Int) {
        #expect(!CallError(wasSent: true, code: code, message: "").isRefusal)
    }

    @Test func noDescriptionContainsThePassword() throws {
        var configuration = EtcdConfiguration(endpoints: ["127.0.0.1:1"], prefix: "a/")
        configuration.credentials = .init(user: "flags", password: "hunter2")
        configuration.writeTimeout = .milliseconds(1)
        var output = "\(configuration) \(String(reflecting: configuration))"
        dump(configuration, to: &output)
        let error = #expect(throws: DefaultsError.self) { try EtcdBackend(configuration) }
        #expect(error?.kind == .unavailable)
        output += "\(error!)"
        #expect(!output.contains("hunter2"))
        #expect(output.contains("flags"))
    }

    @Test(arguments: [
        ("http://etcd-1:2379", true), ("https://127.0.0.1:1", false), ("http://127.0.0.1:1", false),
        ("http://127.evil.example:1", true), ("127.0.0.1.2:1", true), ("[::1]:1", false), ("localhost:1", false),
    ]) func aPasswordCrossesTheNetworkEncrypted(_ endpoint: String, _ isRefused: Bool) {
        var configuration = EtcdConfiguration(endpoints: ["http://localhost:1", endpoint], prefix: "a/")
        configuration.credentials = .init(user: "flags", password: "hunter2")
        configuration.writeTimeout = .milliseconds(1)
        let error = #expect(throws: DefaultsError.self) { try EtcdBackend(configuration) }
        #expect((error?.kind == .refused) == isRefused)
    }

    @Test(arguments: [
        ("http://etcd-1:2379", "etcd-1", 2_379), ("127.0.0.1:4001", "127.0.0.1", 4_001), ("http://[::1]:23", "::1", 23),
        ("etcd", "etcd", 2_379),
    ]) func endpoints(_ endpoint: String, _ host: String, _ port: Int) throws {
        let member = try #require(EtcdGateway.Member(endpoint) { fatalError("no TLS") })
        #expect(member.host == host)
        #expect(member.port == port)
        #expect(member.tls == nil)
    }

    @Test(arguments: ["", "ftp://etcd", "http://", "http://user:password@etcd"])
    func endpointsThatAreNone(_ endpoint: String) {
        let error = #expect(throws: DefaultsError.self) {
            try EtcdBackend(EtcdConfiguration(endpoints: [endpoint], prefix: "a/"))
        }
        #expect(error.map { "\($0)".contains("password@") } == false)
    }
}
