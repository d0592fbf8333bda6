import Foundation
import TypedDefaults

// The best case of the other coders: one encoder or decoder for all calls, and the faster one of
// the two property list formats.

@MainActor func compareCoding() throws {
    let config = CameraConfig()
    compare("encode a config") { comparison in
        comparison.add(.ours, "PropertyList(encoding:)") {
            for _ in 0..<$0 { blackHole(try? PropertyList(encoding: config)) }
        }
        let json = JSONEncoder()
        comparison.add(.peer, "JSONEncoder") { for _ in 0..<$0 { blackHole(try? json.encode(config)) } }
        let propertyList = PropertyListEncoder()
        propertyList.outputFormat = .binary
        comparison.add(.peer, "PropertyListEncoder") { for _ in 0..<$0 { blackHole(try? propertyList.encode(config)) } }
    }
    try compare("decode a config") { comparison in
        let value = try PropertyList(encoding: config)
        comparison.add(.ours, "PropertyList.decode") {
            for _ in 0..<$0 { blackHole(try? value.decode(CameraConfig.self)) }
        }
        let (json, text) = (JSONDecoder(), try JSONEncoder().encode(config))
        comparison.add(.peer, "JSONDecoder") {
            for _ in 0..<$0 { blackHole(try? json.decode(CameraConfig.self, from: text)) }
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let (propertyList, data) = (PropertyListDecoder(), try encoder.encode(config))
        comparison.add(.peer, "PropertyListDecoder") {
            for _ in 0..<$0 { blackHole(try? propertyList.decode(CameraConfig.self, from: data)) }
        }
    }
}
