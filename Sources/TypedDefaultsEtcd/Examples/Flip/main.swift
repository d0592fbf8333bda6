import TypedDefaults
import TypedDefaultsEtcd

// Flips a flag in etcd, for all servers.
// usage: flip FLAG ENDPOINT…

guard CommandLine.arguments.count > 2 else { fatalError("usage: flip FLAG ENDPOINT…") }
let configuration = EtcdConfiguration(endpoints: Array(CommandLine.arguments[2...]), prefix: "shop/")
let flag = UserDefault(
    DefaultKey(CommandLine.arguments[1], default: false), in: DefaultsSuite(backend: try EtcdBackend(configuration)))
let value = try await flag.awaiting.update { value in
    value.toggle()
    return value
}
print("\(CommandLine.arguments[1]) is \(value)")
