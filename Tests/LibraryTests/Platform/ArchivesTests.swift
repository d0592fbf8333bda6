#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif
    #if os(macOS)
        import AppKit
    #elseif canImport(Darwin)
        import UIKit
    #endif
    import TestSupport
    import Testing
    import TypedDefaults

    /// A color that the tests archive.
    // Not private: Linux archives only classes that have a plain name.
    class ArchivedTint: NSObject, NSSecureCoding, @unchecked Sendable {
        var red: Double
        init(_ red: Double) { self.red = red }
        class var supportsSecureCoding: Bool { true }
        func encode(with coder: NSCoder) { coder.encode(red, forKey: "red") }
        required init?(coder: NSCoder) { red = coder.decodeDouble(forKey: "red") }
        override func isEqual(_ object: Any?) -> Bool { (object as? ArchivedTint)?.red == red }
    }
    final class ArchivedDarkTint: ArchivedTint, @unchecked Sendable {}

    /// A class that a key for an `ArchivedTint` does not allow.
    final class ArchivedStranger: NSObject, NSSecureCoding {
        override init() {}
        static var supportsSecureCoding: Bool { true }
        func encode(with coder: NSCoder) {}
        required init?(coder: NSCoder) {}
    }

    /// A class that allows a color inside its archives.
    final class ArchivedPair: NSObject, NSSecureCoding, @unchecked Sendable {
        private let object: NSObject?
        var tint: ArchivedTint? { object as? ArchivedTint }
        init(_ object: NSObject) { self.object = object }
        static var supportsSecureCoding: Bool { true }
        func encode(with coder: NSCoder) { coder.encode(object, forKey: "object") }
        required init?(coder: NSCoder) { object = coder.decodeObject(of: ArchivedTint.self, forKey: "object") }
    }

    extension DefaultKey<ArchivedTint> {
        fileprivate static let tint = DefaultKey("tint", default: ArchivedTint(0), form: .archive)
    }

    struct ArchivesTests {
        private func archive(_ object: Any, secure: Bool = true) throws -> PropertyList {
            .data(try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: secure))
        }

        @Test func anObjectIsStoredAsItsArchive() throws {
            let suite = DefaultsSuite.inMemory()
            let tint = ArchivedTint(0.25)
            suite[.tint] = tint
            #expect(suite[.tint] == tint)
            #expect(suite[.tint] !== tint)
            #expect(try suite.contents()["tint"] == archive(tint))
        }

        @Test func anObjectIsReadByOtherCodeOfUserDefaults() throws {
            let name = makeSuiteName()
            let userDefaults = try #require(UserDefaults(suiteName: name))
            defer { userDefaults.removePersistentDomain(forName: name) }
            DefaultsSuite(userDefaults: userDefaults, suiteName: name)[.tint] = ArchivedTint(0.25)
            let data = try #require(userDefaults.object(forKey: "tint") as? Data)
            #expect(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: ArchivedTint.self, from: data) == ArchivedTint(0.25))
        }

        @Test(arguments: [false, true]) func archivesOfOtherCodeAreRead(secure: Bool) throws {
            let suite = DefaultsSuite.inMemory(["tint": try archive(ArchivedTint(0.25), secure: secure)])
            #expect(suite[.tint] == ArchivedTint(0.25))
            try suite.update(.tint) { $0 = ArchivedTint(0.75) }
            #expect(suite[.tint] == ArchivedTint(0.75))
            #expect(try suite.keys() == ["tint"])
        }

        @Test func anObjectOfASubclassIsRead() throws {
            let suite = DefaultsSuite.inMemory()
            suite[.tint] = ArchivedDarkTint(0.25)
            #expect(suite[.tint] is ArchivedDarkTint)
        }

        @Test func aClassThatIsNotAllowedIsUnreadable() throws {
            let stranger = try archive(ArchivedStranger())
            let suite = DefaultsSuite.inMemory(["tint": stranger])
            let failures = Failures(of: suite)
            #expect(suite[.tint] == ArchivedTint(0))
            #expect(failures.kinds == [.unreadable])
            #expect(throws: DefaultsError.self) { try UserDefault(.tint, in: suite).store.load() }
            suite[.tint] = ArchivedTint(1)
            #expect(suite[.tint] == ArchivedTint(1))
            #expect(try suite.contents()["tint.unreadable"] == stranger)
        }

        @Test(
            arguments: [
                .data(Data()), .data(Data([1, 2, 3])), .data(Data("{}".utf8)), .string("archive"), .integer(1),
                ["red": 1],
            ] as [PropertyList]) func otherValuesAreUnreadable(value: PropertyList) throws
        {
            let suite = DefaultsSuite.inMemory(["tint": value])
            #expect(try suite.faults(.tint).map(\.kind) == [.unreadable])
        }

        @Test func anObjectIsChangedByAnUpdateOnly() throws {
            let suite = DefaultsSuite.inMemory()
            let setting = UserDefault(.tint, in: suite)
            try setting.update { $0.red = 0.25 }
            #expect(setting.value.red == 0.25)
            // A read returns a new object.
            setting.value.red = 0.5
            #expect(setting.value.red == 0.25)
            #expect(DefaultKey.tint.defaultValue.red == 0)
        }

        @Test func aPropertyIsStoredAsAnArchive() throws {
            let suite = DefaultsSuite.inMemory()
            @UserDefault("tint", form: .archive, in: suite) var tint = ArchivedTint(0.5)
            @UserDefault("other", form: .archive, in: suite) var other: ArchivedTint?
            #expect(tint.red == 0.5)
            #expect(other == nil)
            (tint, other) = (ArchivedTint(0.25), ArchivedTint(0.25))
            #expect(suite[.tint].red == 0.25)
            #expect(other?.red == 0.25)
            other = nil
            #expect(try suite.keys() == ["tint"])
        }

        #if canImport(Darwin)
            #if os(macOS)
                private typealias PlatformColor = NSColor
            #else
                private typealias PlatformColor = UIColor
            #endif

            @Test func aColorIsStored() {
                let suite = DefaultsSuite.inMemory()
                let key = DefaultKey("color", default: PlatformColor.systemBlue, form: .archive)
                let color = PlatformColor(red: 0.25, green: 0.5, blue: 1, alpha: 0.5)
                suite[key] = color
                #expect(suite[key] == color)
            }

            // On Linux, a class that is not allowed ends the process.
            @Test func aClassThatIsNotAllowedInsideAnArchiveIsUnreadable() throws {
                let pair = DefaultKey<ArchivedPair?>("pair", form: .archive)
                let suite = DefaultsSuite.inMemory()
                suite[pair] = ArchivedPair(ArchivedTint(0.25))
                #expect(suite[pair]?.tint == ArchivedTint(0.25))
                try suite.update { $0["pair"] = try archive(ArchivedPair(ArchivedStranger())) }
                #expect(try suite.faults(pair).map(\.kind) == [.unreadable])
            }
        #endif
    }
#endif
