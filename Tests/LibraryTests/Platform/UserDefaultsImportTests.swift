#if !canImport(Darwin) && UserDefaults
    import Foundation
    import TestSupport
    import Testing
    import TypedDefaults

    struct UserDefaultsImportTests {
        /// Passes the name of a suite in which Foundation has stored the values, and the path of
        /// its file.
        private func withFoundation(
            _ values: [String: Any], _ body: (_ name: String, _ path: String) throws -> Void
        ) throws {
            let name = makeSuiteName()
            let defaults = try #require(UserDefaults(suiteName: name))
            for (key, value) in values { defaults.set(value, forKey: key) }
            #expect(defaults.synchronize())
            defer {
                defaults.removePersistentDomain(forName: name)
                _ = defaults.synchronize()
            }
            try body(name, #require(DefaultsSuite.inMemory().importUserDefaults(suiteName: name).file))
        }

        @Test func foundationValuesAreImportedOnce() throws {
            let values: [String: Any] = [
                "bool": true, "integer": 2, "double": 2.5, "string": "s", "data": Data([1]),
                "date": Date(timeIntervalSinceReferenceDate: 5), "array": [1, "a"] as [Any],
                "dictionary": ["a": [String: Any]()], "there": 1,
            ]
            try withFoundation(values) { name, path in
                let suite = DefaultsSuite.inMemory(["there": 7])
                let report = try suite.importUserDefaults(suiteName: name)
                #expect(report.imported == values.keys.filter { $0 != "there" }.sorted())
                #expect(report.kept == ["there"])
                #expect(report.refused == [])
                #expect(report.file == path)
                #expect(
                    try suite.contents() == [
                        "bool": true, "integer": 2, "double": 2.5, "string": "s", "data": .data(Data([1])),
                        "date": .date(Date(timeIntervalSinceReferenceDate: 5)), "array": [1, "a"],
                        "dictionary": ["a": [:]], "there": 7,
                    ])
                let second = try suite.importUserDefaults(suiteName: name)
                #expect(second.imported == [])
                #expect(second.kept.count == values.count)
            }
        }

        @Test func aMissingFoundationFileIsReported() throws {
            let report = try DefaultsSuite.inMemory().importUserDefaults(suiteName: makeSuiteName())
            #expect(report.file == nil)
            #expect(report.imported + report.kept == [])
        }

        /// Foundation leaves an empty file behind when it is killed during a write.
        @Test func anEmptyFileHasNoValues() throws {
            try withFoundation(["number": 1]) { name, path in
                try Data().write(to: URL(filePath: path))
                #expect(try DefaultsSuite.inMemory().importUserDefaults(suiteName: name).imported == [])
            }
        }

        @Test(arguments: ["garbage", "<plist><dict><key>cut"])
        func aDamagedFileIsUnavailable(contents: String) throws {
            try withFoundation(["number": 1]) { name, path in
                try Data(contents.utf8).write(to: URL(filePath: path))
                let suite = DefaultsSuite.inMemory()
                #expect(fails(with: .unavailable) { _ = try suite.importUserDefaults(suiteName: name) })
                #expect(FileManager.default.contents(atPath: path) == Data(contents.utf8))
            }
        }

        @Test func aFileThatCannotBeReadIsUnavailable() throws {
            try withFoundation(["number": 1]) { name, path in
                // A folder, because tests may run as root, who can read any file.
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                let suite = DefaultsSuite.inMemory()
                #expect(fails(with: .unavailable) { _ = try suite.importUserDefaults(suiteName: name) })
                try FileManager.default.removeItem(atPath: path)
            }
        }

        @Test func numbersOfFoundationKeepTheirTypes() throws {
            let object: [String: Any] = [
                "true": NSNumber(value: true), "one": NSNumber(value: 1), "ratio": NSNumber(value: 1.0),
                "largest": NSNumber(value: UInt64.max), "array": NSArray(array: [NSNumber(value: false)]),
            ]
            let expected: PropertyList = [
                "true": true, "one": 1, "ratio": 1.0, "largest": 18_446_744_073_709_551_615, "array": [false],
            ]
            #expect(try PropertyList(object) == expected)
        }

        @Test func withoutAHomeNothingIsImported() async {
            await #expect(processExitsWith: .success) {
                for variable in ["HOME", "XDG_CONFIG_HOME"] { unsetenv(variable) }
                #expect(fails(with: .unavailable) { _ = try DefaultsSuite.inMemory().importUserDefaults() })
            }
        }
    }
#endif
