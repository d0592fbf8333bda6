import Configuration
import TypedDefaults

func configurationLayer(_ reader: ConfigReader) -> DefaultsSuite.Layer {
    DefaultsSuite.Layer("configuration") { key in
        let name = ConfigKey(key.split(separator: "/").map(String.init))
        if let text = reader.string(forKey: name) { return .string(text) }
        if let number = reader.int(forKey: name) { return .integer(Int64(number)) }
        if let number = reader.double(forKey: name) { return .double(number) }
        return reader.bool(forKey: name).map { .bool($0) }
    }
}
