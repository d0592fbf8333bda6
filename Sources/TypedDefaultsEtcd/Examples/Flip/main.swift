import TypedDefaults
import TypedDefaultsEtcd

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// Flips a flag in etcd, for all servers.
// usage: flip FLAG ENDPOINT…

guard CommandLine.arguments.count > 2 else {
    print("usage: flip FLAG ENDPOINT…")
    exit(2)
}
let key = DefaultKey(CommandLine.arguments[1], default: false)
let configuration = EtcdConfiguration(endpoints: Array(CommandLine.arguments[2...]), prefix: "shop/")
do {
    let flag = UserDefault(key, in: DefaultsSuite(backend: try EtcdBackend(configuration)))
    let value = try await flag.awaiting.update { value in
        value.toggle()
        return value
    }
    print("\(key.name) is \(value)")
} catch {
    print("\(key.name) was not flipped: \(error)")
    exit(1)
}
