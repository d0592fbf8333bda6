import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

extension DefaultKey<Double> {
    fileprivate static var quality: DefaultKey { DefaultKey("quality", default: 0.8) }
}
extension DefaultKey<Bool> {
    fileprivate static var isQualityHigh: DefaultKey { DefaultKey("isQualityHigh", default: true) }
}
extension DefaultKey<String> {
    fileprivate static var mode: DefaultKey { DefaultKey("mode", default: "photo") }
}

// The code of the page “Moving, exporting and importing”.

func mirror<Value: Equatable>(
    _ key: DefaultKey<Value>, of old: DefaultsSuite, in new: DefaultsSuite
) -> [ObservationToken] {
    // The old version wrote it while this one was not running.
    if old.contains(key), old[key] != new[key] { new[key] = old[key] }
    return [
        new.observe(key) { _ in old[key] = new[key] },
        old.observe(key) { change in
            if change.origin == .external { new[key] = old[key] }
        },
    ]
}

func setQuality(_ quality: Double, in suite: DefaultsSuite) throws {
    try suite.update { contents in
        contents[.quality] = quality
        contents[.isQualityHigh] = quality > 0.5
    }
}

func takeOverQuality(in suite: DefaultsSuite) throws {
    try suite.update { contents in
        let isHigh = contents[.isQualityHigh]
        guard isHigh != (contents[.quality] > 0.5) else { return }
        contents[.quality] = isHigh ? 0.8 : 0.4
    }
}

func importUserDefaults(from file: URL, to suite: DefaultsSuite) throws {
    let data = try Data(contentsOf: file)
    let values = try PropertyListDecoder().decode([String: PropertyList].self, from: data)
    try suite.update { contents in
        // A setting that the suite has stays.
        for (key, value) in values where contents[key] == nil { contents[key] = value }
    }
}

@Suite(.ownThreads) struct MovingRecipeTests {
    @Test(arguments: ["standard.move(.keys", "func mirror", "func takeOverQuality", "func importUserDefaults"])
    func thePageShowsTheCodeOfThisFile(_ text: String) throws {
        #expect(try article("MovingSettings", shows: text))
    }

    /// Foundation itself writes the file, in both of its formats.
    @Test(.ownFile, arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func whatFoundationStoredIsTakenOverOnce(format: PropertyListSerialization.PropertyListFormat) throws {
        let values: [String: Any] = [
            "bool": true, "integer": 2, "double": 2.5, "whole": 2.0, "string": "s", "data": Data([1]),
            "date": Date(timeIntervalSinceReferenceDate: 5), "array": [1, "a"] as [Any],
            "dictionary": ["a": [String: Any]()], "there": 1,
        ]
        let file = URL(filePath: ownFile)
        try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0).write(to: file)
        let suite = DefaultsSuite.inMemory(["there": 7])
        for _ in 0..<2 { try importUserDefaults(from: file, to: suite) }
        #expect(suite[DefaultKey<Double?>("whole")] == 2)
        suite.remove(["whole"])
        let expected: SuiteContents = [
            "bool": true, "integer": 2, "double": 2.5, "string": "s", "data": .data(Data([1])),
            "date": .date(Date(timeIntervalSinceReferenceDate: 5)), "array": [1, "a"], "dictionary": ["a": [:]],
            "there": 7,
        ]
        #expect(try suite.contents() == expected)
    }

    #if !canImport(Darwin)
        @Test(.ownFile) func settingsMoveIntoAnAppGroup() async {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                unsetenv("TYPED_DEFAULTS_STANDARD")
                setenv("XDG_CONFIG_HOME", folder, 1)
                let standard = DefaultsSuite.standard
                (standard[.quality], standard[.mode]) = (0.5, "video")
                standard[DefaultKey("windowFrame", default: "")] = "0 0 640 480"
                for _ in 1...2 {
                    let group = try DefaultsSuite(name: "group.com.example.camera")
                    let report = try DefaultsSuite.standard.move(.keys(.quality, .mode), to: group)
                    for error in report.refused { print(error) }
                    try #require(report.refused.isEmpty)
                    try #require(group[.quality] == 0.5 && group[.mode] == "video")
                    try #require(standard.keys() == ["windowFrame"])
                }
            }
        }
    #endif

    @Test func twoVersionsKeepTwoPlacesInStep() throws {
        let (old, new) = (SpyBackend(["quality": 0.3]), SpyBackend())
        let (first, second) = (DefaultsSuite(backend: old), DefaultsSuite(backend: new))
        let tokens = mirror(.quality, of: first, in: second)
        #expect(second[.quality] == 0.3, "the old version wrote it before")
        second[.quality] = 0.4
        #expect(old.contents["quality"] == 0.4)
        old.write(0.6, forKey: "quality")
        first.waitForHandlers()
        #expect(second[.quality] == 0.6, "another process writes the old place")
        #expect(first[.quality] == 0.6)
        for token in tokens { token.cancel() }
        #expect(try first.move(.keys(.quality), to: second).moved == ["quality"])
        #expect(old.contents.isEmpty)
    }

    @Test func twoVersionsKeepTwoFormsInStep() throws {
        let suite = DefaultsSuite.inMemory()
        try takeOverQuality(in: suite)
        #expect(try suite.contents().isEmpty)
        try setQuality(0.6, in: suite)
        try takeOverQuality(in: suite)
        #expect(suite[.quality] == 0.6)
        // The old version.
        suite[.isQualityHigh] = false
        try takeOverQuality(in: suite)
        #expect(suite[.quality] == 0.4)
    }
}
