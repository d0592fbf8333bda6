/// Where a suite is stored in etcd, and how to reach it.
///
/// ```swift
/// var configuration = EtcdConfiguration(
///     endpoints: ["https://etcd-1:2379", "https://etcd-2:2379", "https://etcd-3:2379"], prefix: "shop/")
/// configuration.credentials = .init(user: "shop", password: password)
/// let suite = DefaultsSuite(backend: try EtcdBackend(configuration))
/// ```
public struct EtcdConfiguration: Sendable {
    /// The client addresses of the members, such as “https://etcd-1:2379”. Without a scheme, the
    /// connection is not encrypted.
    public var endpoints: [String]
    /// What all keys in etcd begin with, such as “shop/”. Each suite needs a prefix of its own,
    /// which does not begin with the prefix of another suite followed by “rev” or “v/”.
    ///
    /// The value of the setting “theme” is stored under “shop/v/theme”, as JSON.
    public var prefix: String
    /// The user of etcd; `nil` if the cluster has no users. Needs endpoints that begin with
    /// “https”, or are on this machine.
    public var credentials: Credentials?
    /// The certificates of endpoints that begin with “https”.
    public var tls = TLS()
    /// How long a write waits for the cluster before it throws. A call that has begun by then may
    /// take 2 seconds more.
    public var writeTimeout = Duration.seconds(10)
    /// How often the backend asks the cluster whether its values are current. Only this finds a
    /// partition, or a proxy that holds changes back.
    public var heartbeat = Duration.seconds(1)
    /// How long the values may not be known to be current before they count as outdated. Make it
    /// longer than two heartbeats, because only a heartbeat shows that they are current.
    public var maximumStaleness = Duration.seconds(30)
    /// What happens then.
    public var whenStale = StalePolicy.serve
    /// How long a member may be silent in a call. Tests are more patient, because they count calls.
    var patience = Duration.seconds(2)
    /// The limit for the pauses between watches that fail. Tests wait less.
    var longestPause = Duration.seconds(30)

    /// Returns the pause after watches that were not useful, at whose end the values are read.
    func pause(failed: Int) -> Duration {
        let limit = max(.seconds(1), maximumStaleness * Double.random(in: 0.7...0.9))
        return min(longestPause, EtcdBackend.delay(failed: failed), limit)
    }

    /// Creates a configuration without users.
    public init(endpoints: [String], prefix: String) {
        (self.endpoints, self.prefix) = (endpoints, prefix)
    }

    /// What to do with values that may be outdated, because no answer of the cluster has shown for
    /// ``EtcdConfiguration/maximumStaleness`` that they are current. Both reach the failure handler
    /// of the suite.
    public enum StalePolicy: Sendable {
        /// Reading returns the last known values.
        case serve
        /// Reading throws an error of kind `.unavailable`, and `value` returns the default.
        case unavailable
    }

    /// A user of etcd and the password. No description contains the password.
    public struct Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        let user: String
        let password: String

        /// Creates credentials.
        public init(user: String, password: String) { (self.user, self.password) = (user, password) }

        /// The user, without the password.
        public var description: String { "Credentials(user: \(user))" }
        /// The user, without the password.
        public var debugDescription: String { description }
        /// The user, without the password.
        public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
    }

    /// Files in PEM format.
    ///
    /// etcd's JSON gateway refuses a client certificate with a common name as soon as the cluster
    /// has users. Use a certificate without one, and ``EtcdConfiguration/credentials``.
    public struct TLS: Sendable {
        /// The certificate authorities to trust; `nil` for those of the system.
        public var authorities: String?
        /// The client's certificate chain and its key; `nil` if the members do not ask for one.
        public var client: (certificates: String, key: String)?

        /// Creates settings that trust the authorities of the system.
        public init() {}
    }
}
