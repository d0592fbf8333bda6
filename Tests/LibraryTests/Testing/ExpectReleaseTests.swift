import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

@Suite(.collectsIssues) struct ExpectReleaseTests {
    private static let isOnServer = !ProcessInfo.processInfo.environment["CI", default: ""].isEmpty

    struct First: DefaultConfig {
        static let key = "Camera"
        enum Size: String, Codable, CaseIterable { case small, large }
        var zoom = 1.0
        var size = Size.small
        var grid = false
    }
    struct Second: DefaultConfig {
        static let key = "Camera"
        enum Size: String, Codable, CaseIterable { case small, medium }
        var zoom = 2.0
        var size = Size.small
        var raw = false
    }
    struct Sounds: DefaultConfig {
        static let key = "Sounds"
        var volume = 5
    }

    /// The records of one test.
    private struct Records: ~Copyable {
        let name = UUID().uuidString
        var folder: URL {
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/Releases/\(name)")
        }
        func text(_ version: String) throws -> String {
            try String(decoding: Data(contentsOf: folder.appending(path: "\(version).json")), as: UTF8.self)
        }
        deinit { try? FileManager.default.removeItem(at: folder) }
    }

    private func issues(_ body: () -> Void) -> [String] {
        CollectedIssues.of(body).map { "\($0.line) \($0.text)" }
    }

    /// Returns the lines of the only failure, without the location and the path.
    private func lines(_ body: () -> Void) -> [String] {
        let issues = issues(body)
        #expect(issues.count == 1)
        let lines = issues.first?.split(separator: "\n").map(String.init) ?? []
        return lines.map { line in
            guard let path = line.firstRange(of: " /") else { return line }
            return String(line[..<path.lowerBound])
        }
    }

    #if os(macOS) || os(Linux)
        @Test(.disabled(if: isOnServer)) func aReleaseIsRecordedAndTheNextOneIsCompared() throws {
            let records = Records()
            let volume = DefaultKey("volume", default: 5)
            let line: Int = #line + 1
            let missing = lines { expectRelease("1.4", of: First.self, volume, named: records.name) }
            #expect(
                missing == [
                    "\(line) Release 1.4 has no record:",
                    "To approve, run it once with `record: true`, and commit",
                ])
            let written = lines { expectRelease("1.4", of: First.self, volume, named: records.name, record: true) }
            #expect(written.last == "Review and commit")
            expectRelease("1.4", of: First.self, volume, named: records.name)
            let kept = lines { expectRelease("1.4", of: First.self, volume, named: records.name, record: true) }
            #expect(kept == ["\(line + 9) The record of 1.4 is up to date. Stop recording."])

            let changed = lines { expectRelease("1.5", of: Second.self, volume, named: records.name) }
            let expected = [
                "! size: a user who chose \"large\" gets \"small\" (users of 1.4)",
                "+ raw (users of 1.4)",
                "- grid: no longer read, stays stored (users of 1.4)",
                "< size: a user who chooses \"medium\" and downgrades loses it (users of 1.4)",
                "~ zoom: a user who never chose it gets 2.0 instead of 1.0 (users of 1.4)",
                "Usual cures: a step of the migrator, a wider type or rule, an optional.",
            ]
            #expect(Array(changed.dropFirst().dropLast()) == expected)
            let approved = lines {
                expectRelease("1.5", of: Second.self, volume, named: records.name, record: true)
            }
            #expect(Array(approved.dropFirst().dropLast()) == expected)
            expectRelease("1.5", of: Second.self, volume, named: records.name)

            // What 1.5 has approved is not asked again.
            _ = lines { expectRelease("1.6", of: Second.self, volume, named: records.name, record: true) }
            #expect(try records.text("1.6").contains(#""approved": {}"#))
            expectRelease("1.6", of: Second.self, volume, named: records.name)
        }

        @Test(.disabled(if: isOnServer)) func aRecordThatNoLongerHoldsIsReported() throws {
            let records = Records()
            _ = lines { expectRelease("1.4", of: First.self, named: records.name, record: true) }
            let changed = lines { expectRelease("1.4", of: Second.self, named: records.name) }
            #expect(changed.contains("since its record: ~ zoom: a user who never chose it gets 2.0 instead of 1.0"))
            #expect(
                changed.contains("If 1.4 has been released, its record must not change: pass the next version."))
            _ = lines { expectRelease("1.5", of: Second.self, named: records.name, record: true) }
            let undone = lines { expectRelease("1.5", of: First.self, named: records.name) }
            #expect(undone.contains("no longer happens: ~ zoom: a user who never chose it gets 2.0 instead of 1.0"))
        }

        @Test(.disabled(if: isOnServer)) func aRecordIsStableAndHasSampleValuesOnly() throws {
            let records = Records()
            for version in ["1.4", "1.4"] {
                _ = issues { expectRelease(version, of: First.self, named: records.name, record: true) }
            }
            #expect(
                try records.text("1.4").split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
                    == """
                    { "approved": {}, "cases": { "Camera.size": [ "small", "large" ] }, "history": [], \
                    "reads": { "Camera.grid": false, "Camera.size": "small", "Camera.zoom": 1.0 }, "samples": [ \
                    { "chose": "$null", "name": "default", "reads": {}, "stored": {} }, \
                    { "chose": "grid", "name": "grid = true", "reads": { "Camera.grid": true }, \
                    "stored": { "Camera": { "grid": true } } }, \
                    { "chose": "size", "name": "size = \\"large\\"", "reads": { "Camera.size": "large" }, \
                    "stored": { "Camera": { "size": "large" } } }, \
                    { "chose": "zoom", "name": "zoom = 1.5", "reads": { "Camera.zoom": 1.5 }, \
                    "stored": { "Camera": { "zoom": 1.5 } } }, \
                    { "chose": "zoom", "name": "zoom = -1000000000.0", "reads": { "Camera.zoom": -1000000000.0 }, \
                    "stored": { "Camera": { "zoom": -1000000000.0 } } }, \
                    { "chose": "zoom", "name": "zoom = 1000000000.0", "reads": { "Camera.zoom": 1000000000.0 }, \
                    "stored": { "Camera": { "zoom": 1000000000.0 } } }, \
                    { "chose": "$null", "name": "everything", \
                    "reads": { "Camera.grid": true, "Camera.size": "large", "Camera.zoom": 1.5 }, \
                    "stored": { "Camera": { "grid": true, "size": "large", "zoom": 1.5 } } } ], "unsampled": [] }
                    """)
        }

        @Test(.enabled(if: isOnServer)) func noRecordIsWrittenOnAServer() {
            let records = Records()
            let lines = lines { expectRelease("1.4", of: First.self, named: records.name, record: true) }
            #expect(lines.last == "To approve, run it once with `record: true`, and commit")
            #expect(!FileManager.default.fileExists(atPath: records.folder.path))
        }

        @Test(.disabled(if: isOnServer)) func keysAndSeveralConfigsAreCompared() throws {
            let records = Records()
            func check(_ version: String, _ volume: Int, isRecording: Bool = false) {
                let key = DefaultKey("volume", default: volume)
                expectRelease(
                    version, of: key, DefaultKey(Sounds.self), DefaultKey(First.self), named: records.name,
                    samples: ["loud": { $0[Sounds.self].volume = 11 }], record: isRecording)
            }
            _ = lines { check("1", 5, isRecording: true) }
            check("1", 5)
            #expect(try records.text("1").contains(#""name": "loud""#))
            #expect(
                lines { check("2", 6) }.contains("~ volume: a user who never chose it gets 6 instead of 5 (users of 1)")
            )
        }

        /// A config with an identifier of its own has another default in each process.
        @Test(.disabled(if: isOnServer)) func aRandomDefaultIsFixed() throws {
            struct Device: Codable {
                var id = UUID()
                var name = "phone"
            }
            struct Installation: DefaultConfig {
                static let key = "Installation"
                var id = UUID()
                var date = Date()
                var count = 1
                var device = Device()
            }
            let records = Records()
            _ = lines { expectRelease("1", of: Installation.self, named: records.name, record: true) }
            let text = try records.text("1")
            #expect(!text.contains(Installation().id.uuidString))
            #expect(text.contains(#""Installation.id": "00000000-0000-0000-0000-000000000001""#))
            #expect(text.contains(#""Installation.device.id": "00000000-0000-0000-0000-000000000001""#))
            #expect(text.contains(#""Installation.count": 2"#))
            #expect(text.contains(#""unsampled": []"#))
            expectRelease("1", of: Installation.self, named: records.name)
        }

        @Test func aRandomDefaultWithoutAFixedValueIsNamed() {
            struct Odd: DefaultConfig {
                static let key = "Odd"
                struct Code: Codable {
                    var text: String
                    init() { text = "code \(UUID())" }
                    init(from decoder: any Decoder) throws {
                        text = try decoder.singleValueContainer().decode(String.self)
                        guard text.hasPrefix("code ") else { throw CancellationError() }
                    }
                    func encode(to encoder: any Encoder) throws {
                        var container = encoder.singleValueContainer()
                        try container.encode(text)
                    }
                }
                var code = Code()
            }
            let records = Records()
            let found = lines { expectRelease("1", of: Odd.self, named: records.name) }
            #expect(
                found.contains("Odd.code differs in each run, and no fixed value was found: give it a fixed default."))
        }

        @Test(.disabled(if: isOnServer)) func aRecordThatDiffersForNoUserSaysInWhat() throws {
            let records = Records()
            _ = lines { expectRelease("1", of: First.self, named: records.name, record: true) }
            let found = lines {
                expectRelease("1", of: First.self, named: records.name, samples: ["pro": { $0[First.self].zoom = 8 }])
            }
            #expect(found.contains("No user notices this: other samples."))
        }

        @Test func anEnumWithValuesIsOneProperty() {
            struct Tracker: DefaultConfig {
                static let key = "Tracker"
                enum Reminder: Codable {
                    case never
                    case every(minutes: Int)
                }
                var reminder = Reminder.never
            }
            let records = Records()
            let line =
                "No sample chooses Tracker.reminder: pass `samples`, or make an enum without associated values "
                + "CaseIterable."
            #expect(lines { expectRelease("1", of: Tracker.self, named: records.name) }.contains(line))
            let sampled = lines {
                expectRelease(
                    "1", of: Tracker.self, named: records.name,
                    samples: ["hourly": { $0[Tracker.self].reminder = .every(minutes: 60) }])
            }
            #expect(!sampled.contains { $0.hasPrefix("No sample") })
        }

        @Test(.disabled(if: isOnServer)) func aDamagedRecordOfThisReleaseIsWrittenAgain() throws {
            let records = Records()
            _ = lines { expectRelease("1.4", of: First.self, named: records.name, record: true) }
            let text = try records.text("1.4")
            let conflict = "<<<<<<< HEAD\n\(text)=======\n\(text)>>>>>>> main\n"
            try Data(conflict.utf8).write(to: records.folder.appending(path: "1.4.json"))
            let texts = issues { expectRelease("1.4", of: First.self, named: records.name) }
            #expect(texts.count == 1)
            #expect(texts.first?.contains("1.4.json cannot be read") == true)
            _ = lines { expectRelease("1.4", of: First.self, named: records.name, record: true) }
            #expect(try records.text("1.4") == text)
        }

        @Test(.disabled(if: isOnServer)) func twoTestsWithOneRecordAreToldApart() throws {
            let records = Records()
            _ = lines { expectRelease("1.4", of: First.self, named: records.name, record: true) }
            let texts = lines { expectRelease("1.4", of: Sounds.self, named: records.name) }
            #expect(texts.contains("If another test records other settings here, pass `named:` to both."))
        }

        @Test func aSampleWithoutAChoiceIsNamed() {
            let records = Records()
            let texts = lines {
                expectRelease("1.4", of: First.self, named: records.name, samples: ["a typo": { $0["zom"] = 2 }])
            }
            #expect(texts.contains("The sample “a typo” changes nothing that these settings read."))
        }

        @Test func aDamagedRecordIsNamed() throws {
            let records = Records()
            try FileManager.default.createDirectory(at: records.folder, withIntermediateDirectories: true)
            try Data("{".utf8).write(to: records.folder.appending(path: "1.3.json"))
            let texts = issues { expectRelease("1.4", of: First.self, named: records.name) }
            #expect(texts.count == 1)
            #expect(texts.first?.contains("1.3.json cannot be read") == true)
        }
    #endif

    @Test func aSampleThatCannotBeStoredIsReported() {
        let port = DefaultKey("port", default: 80, rule: .in(1...65_535))
        let texts = issues { expectRelease("1", of: port, named: "none", samples: ["odd": { $0[port] = 0 }]) }
        #expect(texts.count == 1)
        #expect(texts.first?.contains("the value must be in 1...65535") == true)
    }
}
