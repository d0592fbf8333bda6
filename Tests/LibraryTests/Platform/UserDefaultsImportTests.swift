#if !canImport(Darwin) && UserDefaults
    import Foundation
    import TestSupport
    import Testing
    import TypedDefaults

    struct UserDefaultsImportTests {
        @Test func foundationValuesAreImportedOnce() throws {
            let name = makeSuiteName()
            let foundation = DefaultsSuite(userDefaultsNamed: name)
            let contents: [String: PropertyList] = [
                "bool": true, "integer": 2, "double": 2.0, "string": "s", "data": .data(Data([1])),
                "date": .date(Date(timeIntervalSinceReferenceDate: 5)), "array": [1, "a"], "dictionary": ["a": [:]],
                "there": 1,
            ]
            for (key, value) in contents { foundation[DefaultKey<PropertyList?>(key)] = value }
            try foundation.synchronize()
            let suite = DefaultsSuite.inMemory(["there": 7])
            let report = try suite.importUserDefaults(suiteName: name)
            #expect(report.imported == contents.keys.filter { $0 != "there" }.sorted())
            #expect(report.kept == ["there"])
            #expect(report.refused == [])
            #expect(report.file == foundation.location)
            for (key, value) in contents where key != "there" {
                #expect(suite[DefaultKey<PropertyList?>(key)] == value)
            }
            #expect(suite[DefaultKey("there", default: 0)] == 7)
            let second = try suite.importUserDefaults(suiteName: name)
            #expect(second.imported == [])
            #expect(second.kept.count == contents.count)
            foundation.removeAll()
            try foundation.synchronize()
        }

        @Test func aMissingFoundationFileIsReported() throws {
            let report = try DefaultsSuite.inMemory().importUserDefaults(suiteName: makeSuiteName())
            #expect(report.file == nil)
            #expect(report.imported + report.kept == [])
        }

        @Test func aDamagedFileIsUnavailable() throws {
            let name = makeSuiteName()
            let path = try #require(DefaultsSuite(userDefaultsNamed: name).location)
            try Data("garbage".utf8).write(to: URL(filePath: path))
            defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) } }
            #expect(fails(with: .unavailable) { _ = try DefaultsSuite.inMemory().importUserDefaults(suiteName: name) })
        }
    }
#endif
