import Foundation
import TypedDefaults

// The best case of the other coders: one encoder or decoder for all calls, and the faster one of
// the two property list formats.

func compareEncoding() {
    let (jsonEncoder, propertyListEncoder) = (JSONEncoder(), PropertyListEncoder())
    propertyListEncoder.outputFormat = .binary
    let config = CameraConfig()
    var comparison = Comparison("Encode a five-field config")
    comparison.add("JSONEncoder") { for _ in 0..<$0 { blackHole(try? jsonEncoder.encode(config)) } }
    comparison.add("PropertyListEncoder") { for _ in 0..<$0 { blackHole(try? propertyListEncoder.encode(config)) } }
    comparison.add("PropertyList(encoding:)", goal: 0.7) {
        for _ in 0..<$0 { blackHole(try? PropertyList(encoding: config)) }
    }
    comparison.run()
}

func compareDecoding() throws {
    let (jsonDecoder, propertyListDecoder) = (JSONDecoder(), PropertyListDecoder())
    let json = try JSONEncoder().encode(CameraConfig())
    let propertyListEncoder = PropertyListEncoder()
    propertyListEncoder.outputFormat = .binary
    let data = try propertyListEncoder.encode(CameraConfig())
    let propertyList = try PropertyList(encoding: CameraConfig())
    var comparison = Comparison("Decode a five-field config")
    comparison.add("JSONDecoder") {
        for _ in 0..<$0 { blackHole(try? jsonDecoder.decode(CameraConfig.self, from: json)) }
    }
    comparison.add("PropertyListDecoder") {
        for _ in 0..<$0 { blackHole(try? propertyListDecoder.decode(CameraConfig.self, from: data)) }
    }
    comparison.add("PropertyList.decode", goal: 0.3) {
        for _ in 0..<$0 { blackHole(try? propertyList.decode(CameraConfig.self)) }
    }
    comparison.run()
}
