import Configuration
import Foundation
import TypedDefaults

func configurationLayer(_ reader: ConfigReader) -> DefaultsSuite.Layer {
    DefaultsSuite.Layer("configuration") { key in
        let name = ConfigKey(key.split(separator: "/").map(String.init))
        if let text = reader.string(forKey: name) { return .string(text) }
        if let number = reader.int(forKey: name) { return .integer(Int64(number)) }
        if let number = reader.double(forKey: name) { return .double(number) }
        if let isOn = reader.bool(forKey: name) { return .bool(isOn) }
        if let bytes = reader.bytes(forKey: name) { return .data(Data(bytes)) }
        if let texts = reader.stringArray(forKey: name) { return .array(texts.map { .string($0) }) }
        if let numbers = reader.intArray(forKey: name) { return .array(numbers.map { .integer(Int64($0)) }) }
        if let numbers = reader.doubleArray(forKey: name) { return .array(numbers.map { .double($0) }) }
        if let areOn = reader.boolArray(forKey: name) { return .array(areOn.map { .bool($0) }) }
        return reader.byteChunkArray(forKey: name).map { .array($0.map { .data(Data($0)) }) }
    }
}

func followReloads(of reader: ConfigReader, in suite: DefaultsSuite) async throws {
    try await reader.watchSnapshot { snapshots in
        for await _ in snapshots { suite.layers = suite.layers }
    }
}
