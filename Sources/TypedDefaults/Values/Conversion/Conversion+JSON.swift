#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList {
    /// Whether this is an optional without a value, as JSON data.
    var isJSONNull: Bool {
        guard case .data(let data) = self else { return false }
        return data.filter { !" \t\r\n".utf8.contains($0) } == Data("null".utf8)
    }
}

extension Conversion where Value: Codable {
    /// Converts by `Codable`, as JSON data, which many programs store in `UserDefaults`.
    static func jsonData(fallback: Value?) -> Conversion {
        let traits = RootTraits(Value.self)
        let optional = traits.isOptional ? Value.self as? any AnyOptional.Type : nil
        if let config = optional?.wrappedType as? any DefaultConfig.Type {
            return ofOptional(config, fallback) as! Conversion  // Safe: `Value` is the optional of `config`.
        }
        let defaults = fallback.map { LazyDefault($0) }
        let conversion = Conversion(
            kind: .jsonData,
            store: { value throws(DefaultsError) in
                // An optional without a value.
                guard !traits.isOptional || (value as? any AnyOptional)?.isNil == false else { return nil }
                do { return .data(try OrderedJSON.data(of: value)) } catch {
                    throw DefaultsError(encoding: Value.self, error)
                }
            },
            decodeBox: { stored, mode in
                if case .data(let data) = stored, let foreign = ForeignData(data),
                    defaults?.entries?.filling(foreign.tree).paths.isEmpty != false,
                    let value = try? foreign.decode(Value.self)
                {
                    if let list = mode.list { listFaults(of: stored, in: list, defaults) }
                    return .success(Box(value))
                }
                return boxedByCodable(traits.node(stored), mode, defaults)
            })
        return conversion.followingOwnRules
    }

    private static func ofOptional<Config: DefaultConfig>(_ type: Config.Type, _ fallback: Value?) -> Any {
        Conversion<Config>.jsonData(fallback: fallback as? Config ?? Config.defaultInstance).optional
    }
}
