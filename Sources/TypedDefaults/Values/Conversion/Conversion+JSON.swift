#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Conversion where Value: Codable {
    /// Converts by `Codable`, as JSON data, which many programs store in `UserDefaults`.
    static func jsonData(fallback: Value?) -> Conversion {
        let traits = RootTraits(Value.self)
        let optional = traits.isOptional ? Value.self as? any AnyOptional.Type : nil
        if let config = optional?.wrappedType as? any DefaultConfig.Type {
            return ofOptional(config, fallback) as! Conversion  // Safe: `Value` is the optional of `config`.
        }
        let conversion = Conversion(
            kind: .jsonData,
            store: { value throws(DefaultsError) in
                // An optional without a value.
                guard !traits.isOptional || (value as? any AnyOptional)?.isNil == false else { return nil }
                do { return .tree(.data(try OrderedJSON.data(of: value))) } catch {
                    throw DefaultsError(encoding: Value.self, error)
                }
            },
            decodeBox: { stored, mode in
                if case .data(let data) = stored.tree, let foreign = ForeignData(data),
                    let box = try? decoding(foreign, mode)
                {
                    return .success(box)
                }
                return boxedByCodable(stored, mode, fallback: fallback)
            })
        return conversion.followingOwnRules
    }

    private static func ofOptional<Config: DefaultConfig>(_ type: Config.Type, _ fallback: Value?) -> Any {
        let conversion = Conversion<Config>.jsonData(fallback: fallback as? Config ?? Config.defaultInstance).optional
        var optional = Conversion<Config?>(
            kind: conversion.kind, store: { value throws(DefaultsError) in try conversion.encoding(value).get() },
            decodeBox: { stored, mode in
                if stored.tree == .data(Data("null".utf8)) { return .success(Box<Config?>(nil)) }
                return conversion.decodeBox(stored, mode)
            })
        optional.rules = conversion.rules
        return optional
    }
}
