#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Conversion where Value: Codable {
    /// Converts by `Codable`, as JSON data, which many programs store in `UserDefaults`.
    static func jsonData(fallback: Value?) -> Conversion {
        let traits = RootTraits(Value.self)
        return Conversion(
            kind: .jsonData,
            store: { value throws(DefaultsError) in
                // An optional without a value.
                guard !traits.isOptional || (value as? any AnyOptional)?.isNil == false else { return nil }
                let encoder = JSONEncoder()
                // The same value gives the same bytes.
                encoder.outputFormatting = .sortedKeys
                do { return .tree(.data(try encoder.encode(value))) } catch {
                    throw DefaultsError(encoding: Value.self, error)
                }
            },
            decodeBox: { stored, mode in
                if case .data(let data) = stored.tree, let value = try? ForeignData(data)?.decode(Value.self) {
                    return .success(Box(value))
                }
                return boxedByCodable(stored, mode, fallback: fallback)
            })
    }
}
