// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The part of etcd's API that the backend uses, in the form of the JSON gateway:
//
// - 64-bit integers are text, and bytes are base64.
// - Zeros, `false` and empty fields are left out of answers.
// - The gateway ignores unknown fields silently, so a misspelled `mod_revision` compares with 0.
//   `MessageTests` has the exact text of each request.

struct Header: Decodable {
    var cluster_id: String?
    var revision: String?
    var number: Int64 { revision.flatMap { Int64($0) } ?? 0 }
    /// Whether a cluster can be at this revision. Each cluster begins with 1, and none reaches the
    /// last number, after which no watch could begin.
    var isPossible: Bool { (1..<Int64.max).contains(number) }
}

/// An answer that has the revision of the cluster.
protocol HeadedAnswer { var header: Header { get } }

struct KeyValue: Decodable {
    var key: String
    var value: String?
    var mod_revision: String?
    var keyBytes: [UInt8] { bytes(base64: key) }
    var valueBytes: [UInt8] { bytes(base64: value ?? "") }
    /// When the key was changed last. 0, which etcd uses for a missing key, is never a real one.
    var number: Int64 { mod_revision.flatMap { Int64($0) } ?? 0 }
}

struct RangeAnswer: Decodable, HeadedAnswer {
    var header: Header
    var kvs: [KeyValue]?
    /// The number of all keys in the range, whatever the request filters.
    var count: String?
    var number: Int { count.flatMap { Int($0) } ?? 0 }
}

struct TransactionAnswer: Decodable, HeadedAnswer {
    struct Response: Decodable {
        struct Range: Decodable { var kvs: [KeyValue]? }
        var response_range: Range?
    }
    var header: Header
    var succeeded: Bool?
    var responses: [Response]?

    func found(by index: Int) -> KeyValue? {
        guard let responses, responses.indices.contains(index) else { return nil }
        return responses[index].response_range?.kvs?.first
    }
}

/// One line of a watch. It can hold the events of several revisions, but no revision is split,
/// because the request does not ask for fragments.
struct WatchLine: Decodable {
    struct Event: Decodable {
        var type: String?
        var kv: KeyValue
    }
    struct Result: Decodable {
        var created: Bool?
        var canceled: Bool?
        var compact_revision: String?
        var cancel_reason: String?
        var events: [Event]?
    }
    var result: Result?
}

struct Token: Decodable { var token: String }
struct Refusal: Decodable {
    var message: String?
    var code: Int?
}

struct RangeRequest: Encodable {
    var key: String
    var range_end: String?
    var limit: String?
    var sort_order: String?
    var sort_target: String?
    var keys_only: Bool?
    var min_mod_revision: String?
    /// A past revision.
    var revision: String?
}

struct Comparison: Encodable {
    var key: String
    var target = "MOD"
    var result = "EQUAL"
    var mod_revision: String
}

struct Operation: Encodable {
    struct Put: Encodable {
        var key: String
        var value: String
    }
    struct Delete: Encodable { var key: String }
    var request_put: Put?
    var request_delete_range: Delete?
    var request_range: RangeRequest?
}

struct Transaction: Encodable {
    var compare: [Comparison]
    var success: [Operation]
    var failure: [Operation]
}

struct Watch: Encodable {
    struct Create: Encodable {
        var key: String
        var range_end: String
        var start_revision: String
    }
    var create_request: Create
}

struct Authentication: Encodable {
    var name: String
    var password: String
}

/// The calls, by their paths.
enum Method {
    static let range = "/v3/kv/range", transaction = "/v3/kv/txn", watch = "/v3/watch"
    static let authenticate = "/v3/auth/authenticate"
}

func base64(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }
private func bytes(base64 text: String) -> [UInt8] { Data(base64Encoded: text).map { [UInt8]($0) } ?? [] }

/// Encodes a request. The messages hold only text and truth values, which always can be encoded.
func json(_ message: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(message)).map { [UInt8]($0) } ?? []
}
