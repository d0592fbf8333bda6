#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Conversion where Value: Codable {
    /// Converts by `Codable`, as JSON data, which many programs store in `UserDefaults`.
    static func jsonData(fallback: Value?) -> Conversion {
        Conversion(
            kind: .jsonData,
            encode: { value throws(DefaultsError) in
                // An optional without a value.
                guard try traced(value) != nil else { return nil }
                let written: PropertyList
                do { written = try encodingAsJSON(value) } catch { throw DefaultsError(encoding: Value.self, error) }
                // Checked each time, because JSON holds some values and not others.
                try RoundTrip(
                    value: value, written: written, read: decodingFromJSON, write: encodingAsJSON,
                    trace: { try tracedByCodable($0) },
                    readDirectly: {
                        // Checks the type itself.
                        guard let node = try encodingByCodable(value) else { return nil }
                        return try decodingByCodable(.tree(node), fallback: nil)
                    },
                    ignores: { _, _ in false }, reason: "the value changed in a round trip through JSON"
                ).check()
                return written
            },
            decodeBox: { stored, mode in
                if case .data(let data) = stored.tree, let value = try? EmbeddedData(data).decode(Value.self) {
                    guard mode == .recording else { return .success(Box(value)) }
                    let recovery = recovery(of: stored.tree, value, UnknownEntries(), encodingInData: treeOfJSON)
                    return .success(Box.make(value, recovery))
                }
                return boxedByCodable(stored, mode, fallback: fallback)
            })
    }

    private static func traced(_ value: Value) throws(DefaultsError) -> PropertyList? {
        do { return try tracedByCodable(value) } catch { throw DefaultsError(encoding: Value.self, error) }
    }

    private static func encodingAsJSON(_ value: Value) throws -> PropertyList {
        let encoder = JSONEncoder()
        // Equal dictionaries give the same bytes, but equal sets need not.
        encoder.outputFormatting = .sortedKeys
        return .data(try encoder.encode(value))
    }

    private static func treeOfJSON(_ value: Value) -> PropertyList? {
        guard case .data(let data)? = try? encodingAsJSON(value) else { return nil }
        return (try? EmbeddedData(data).tree) ?? nil
    }

    private static func decodingFromJSON(_ stored: PropertyList) throws -> Value {
        guard case .data(let data) = stored, let value = try EmbeddedData(data).decode(Value.self) else {
            throw DefaultsError(.unreadable, reason: "the stored data is not JSON")
        }
        return value
    }
}
