import Foundation
import TestSupport
import Testing
import TypedDefaults

private struct Proxy: DefaultConfig {
    static let key = "Proxy"
    static let rules: [DefaultRule<Proxy>] = [.on(\.port, .in(1...65_535))]
    var port = 8080
}

/// The functions of the article *Layers*.
struct LayerRecipeTests {
    func managedLayer<each Value>(
        file: URL, keys: repeat DefaultKey<each Value>
    ) throws -> DefaultsSuite.Layer {
        let contents: SuiteContents
        if file.pathExtension == "defaults" {
            let suite = try DefaultsSuite(file: file)
            try suite.checkReadability()
            contents = try suite.contents()
        } else {
            do {
                contents = try SuiteContents(json: Data(contentsOf: file))
            } catch CocoaError.fileReadNoSuchFile {
                contents = [:]
            }
        }
        if let fault = contents.faults(repeat each keys).first { throw fault }
        var unknown = Set(contents.keys)
        for key in repeat each keys { unknown.remove(key.name) }
        if let key = unknown.min() {
            throw DefaultsError(.unknownEntry, key: key, reason: "there is no such setting")
        }
        return DefaultsSuite.Layer("admin") { key in contents[key] }
    }

    func deviceManagementLayer() throws -> DefaultsSuite.Layer {
        let key = "com.apple.configuration.managed"
        let managed = UserDefaults.standard.dictionary(forKey: key) ?? [:]
        return .values(try managed.mapValues { try PropertyList($0) }, name: "admin")
    }

    func bundledDefaults(_ file: URL) throws -> DefaultsSuite.Layer {
        let data = try Data(contentsOf: file)
        let object = try PropertyListSerialization.propertyList(from: data, format: nil)
        guard case .dictionary(let values) = try PropertyList(object) else {
            throw CocoaError(.propertyListReadCorrupt)
        }
        return .values(values, name: "bundle")
    }

    @Test(arguments: ["managedLayer<each Value>", "deviceManagementLayer", "bundledDefaults"])
    func thePageShowsTheCodeOfThisFile(_ name: String) throws {
        #expect(try article("Layers", shows: "func \(name)("))
    }

    let suite = DefaultsSuite.inMemory(["limit": 1])
    let limit: UserDefault<Int>
    let file: URL
    func admin() throws -> DefaultsSuite.Layer {
        try managedLayer(file: file, keys: DefaultKey("limit", default: 0), DefaultKey(Proxy.self))
    }
    init() throws {
        limit = UserDefault("limit", default: 0, in: suite)
        file = try makeFile().deletingPathExtension().appendingPathExtension("json")
    }

    /// A typo in the file of an administrator must not put the user's values in force.
    @Test(arguments: [
        #"{"limit": 9,}"#, #"{"limit": 9 // at most"#, #"{"limit": 9, "proxy": null}"#, #"{"limit": 9, "x": 1e400}"#,
        #"{"limit": 9, "x": {"$ref": "y"}}"#, "", "9",
        // JSON, but a value of the wrong type, a misspelled key or property, or a broken rule.
        #"{"limit": "many"}"#, #"{"limit": "9"}"#, #"{"Limit": 9}"#, #"{"limit": 9, "limits": 9}"#,
        #"{"limit": 9, "Proxy": {"port": "many"}}"#, #"{"limit": 9, "Proxy": {"prot": 80}}"#,
        #"{"limit": 9, "Proxy": {"port": 0}}"#,
    ]) func aManagedFileWithATypoIsAnErrorAndTheLastGoodOneStays(_ text: String) throws {
        try Data(#"{"limit": 9}"#.utf8).write(to: file)
        suite.layers = [try admin(), .stored]
        try Data(text.utf8).write(to: file)
        #expect(throws: DefaultsError.self) { suite.layers = [try admin(), .stored] }
        #expect(limit.value == 9 && limit.isManaged)
    }

    @Test func aSettingsFileOfAnAdministratorIsInForce() throws {
        let file = file.deletingLastPathComponent().appending(path: "admin.defaults")
        func managed() throws -> DefaultsSuite.Layer {
            try managedLayer(file: file, keys: DefaultKey("limit", default: 0))
        }
        suite.layers = [try managed(), .stored]
        #expect(limit.value == 1 && !limit.isManaged)
        let admin = try DefaultsSuite(file: file).quiet
        try admin.update { $0["limit"] = 9 }
        try admin.synchronize()
        suite.layers = [try managed(), .stored]
        #expect(limit.value == 9 && limit.isManaged)
        // Damage, also to a record, is an error.
        let good = try Data(contentsOf: file)
        for offset in [33, 75] {
            var bytes = good
            bytes[offset] ^= 4
            try bytes.write(to: file, options: .atomic)
            #expect(throws: DefaultsError.self) { suite.layers = [try managed(), .stored] }
            #expect(limit.value == 9 && limit.isManaged)
        }
    }

    @Test func onlyAManagedFileThatDoesNotExistManagesNothing() throws {
        suite.layers = [try admin(), .stored]
        #expect(limit.value == 1 && !limit.isManaged)
        // A folder cannot be read as a file.
        #expect(throws: (any Error).self) {
            try managedLayer(file: file.deletingLastPathComponent(), keys: DefaultKey("limit", default: 0))
        }
    }

    @Test func valuesOfADeviceManagementServerAreInForce() throws {
        let registered = UserDefaults.standard.volatileDomain(forName: UserDefaults.registrationDomain)
        defer { UserDefaults.standard.setVolatileDomain(registered, forName: UserDefaults.registrationDomain) }
        UserDefaults.standard.register(defaults: ["com.apple.configuration.managed": ["limit": 9]])
        suite.layers = [try deviceManagementLayer(), .stored]
        #expect(limit.value == 9 && limit.isManaged)
    }

    @Test func aPropertyListOfTheBundleIsReadOrAnError() throws {
        try suite.removeAll()
        #expect(throws: (any Error).self) { try bundledDefaults(file) }
        for object in [[9], "9"] as [Any] {
            try PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0).write(to: file)
            #expect(throws: (any Error).self) { try bundledDefaults(file) }
        }
        try PropertyListSerialization.data(fromPropertyList: ["limit": 9], format: .xml, options: 0).write(to: file)
        suite.layers = [.stored, try bundledDefaults(file)]
        #expect(limit.value == 9 && limit.source == .layer("bundle"))
    }
}
