import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import TypedDefaults

/// Tests changes by other programs to a settings file that a process has open.
enum Disturbance: CaseIterable {
    case removed, renamed, renamedAndDeleted, replacedByBackup, folderMoved, folderReplaced

    /// The number that is stored under the name afterwards; `nil` if there is no file.
    var number: Int? {
        switch self {
        case .removed, .renamed, .renamedAndDeleted, .folderMoved: nil
        case .replacedByBackup, .folderReplaced: 7
        }
    }

    /// Returns the function that disturbs the file. Prepares a backup if the disturbance needs one.
    func prepare(_ file: URL, makeBackup: (URL) -> Void) throws -> () throws -> Void {
        let folder = file.deletingLastPathComponent()
        let moved = URL(filePath: folder.path + "-moved")
        let backup = folder.appending(path: "backup.defaults")
        let newFolder = URL(filePath: folder.path + "-new")
        switch self {
        case .replacedByBackup: makeBackup(backup)
        case .folderReplaced: makeBackup(newFolder.appending(path: file.lastPathComponent))
        default: break
        }
        let manager = FileManager.default
        return {
            switch self {
            case .removed: try manager.removeItem(at: file)
            case .renamed: try manager.moveItem(at: file, to: backup)
            case .renamedAndDeleted:
                try manager.moveItem(at: file, to: backup)
                try manager.removeItem(at: backup)
            case .replacedByBackup: #expect(rename(backup.path, file.path) == 0)
            case .folderMoved: try manager.moveItem(at: folder, to: moved)
            case .folderReplaced:
                try manager.moveItem(at: folder, to: moved)
                try manager.moveItem(at: newFolder, to: folder)
            }
        }
    }
}

@Suite(.ownThreads) struct MovedFileTests: SettingsFileTests {
    enum Moment: CaseIterable { case before, between, after }

    struct Case: CustomTestStringConvertible {
        let disturbance: Disturbance
        let moment: Moment
        let isEqual: Bool
        let durability: DefaultsSuite.Durability

        static let all = Disturbance.allCases.flatMap { disturbance in
            Moment.allCases.flatMap { moment in
                [true, false].flatMap { isEqual in
                    [.process, .immediate].map {
                        Case(disturbance: disturbance, moment: moment, isEqual: isEqual, durability: $0)
                    }
                }
            }
        }

        var testDescription: String {
            "\(disturbance) \(moment) a set of \(isEqual ? "an equal" : "another") value, \(durability)"
        }
    }

    /// A write and an equal `set` go to the file that has the name, whatever other programs did
    /// before. Later changes by other programs are noticed by `synchronize()`, which throws if
    /// changes of this process were not flushed.
    @Test(arguments: Case.all) func noAcknowledgmentIsFalse(_ test: Case) throws {
        try withFolder { file in
            let suite = DefaultsSuite(
                backend: FileBackend(
                    path: file.path, durability: test.durability, timeout: .seconds(60), flushDelay: .seconds(3_600)))
            let failures = Failures(of: suite)
            let setting = UserDefault(DefaultKey<Int?>("number"), in: suite)
            let disturb = try test.disturbance.prepare(file) { open($0)[number] = 7 }
            let heard = Guarded<Int?>(nil)
            let token = setting.observe { change in heard.withLock { $0 = change.newValue ?? nil } }
            let isFlushed = test.durability == .immediate

            try setting.store.save(1)
            if test.moment == .before { try suite.synchronize() }
            if test.moment != .after { try disturb() }
            let value = test.isEqual ? 1 : 2
            try setting.store.save(value)
            #expect(open(file)[number] == value)
            if test.moment == .after { try disturb() }

            let expected = test.moment == .after ? test.disturbance.number : value
            let isLost = !isFlushed && test.moment != .before
            #expect(fails(with: .unavailable) { try suite.synchronize() } == isLost)
            // A missing file may be there again in a moment.
            if expected != nil { #expect(setting.value == expected) }
            heard.wait { $0 == expected }
            #expect(setting.value == expected)
            #expect(heard.withLock { $0 } == expected)
            #expect((test.moment == .after && expected == nil) == !FileManager.default.fileExists(atPath: file.path))

            // Removed values are not written again, and the next write succeeds.
            try suite.synchronize()
            suite[DefaultKey("other", default: 0)] = 3
            #expect(open(file)[DefaultKey("other", default: 0)] == 3)
            #expect(open(file)[DefaultKey<Int?>("number")] == expected)
            try suite.synchronize()
            #expect(failures.kinds == [])
            token.cancel()
        }
    }

    /// An `update` that changes nothing checks the name too.
    @Test(arguments: Disturbance.allCases)
    func anUpdateIsNeverAppliedToAMissingFile(_ disturbance: Disturbance) throws {
        try withFolder { file in
            // Once with the limit that programs have.
            let suite = disturbance == .removed ? DefaultsSuite(backend: FileBackend(path: file.path)) : open(file)
            let disturb = try disturbance.prepare(file) { open($0)[number] = 7 }
            suite[number] = 1
            try suite.synchronize()
            try disturb()
            try suite.update(number) { $0 += 0 }
            #expect(suite[number] == disturbance.number ?? 0)
            try suite.update(number) { $0 += 1 }
            #expect(open(file)[number] == (disturbance.number ?? 0) + 1)
        }
    }

    /// A program that moves a folder away must not find a new one when it moves another one there.
    @Test func aReaderDoesNotCreateAFolder() throws {
        try withFolder { file in
            let folder = file.deletingLastPathComponent()
            let suite = open(file)
            suite[number] = 1
            try suite.synchronize()
            try FileManager.default.removeItem(at: folder)
            try suite.synchronize()
            // It may be there again in a moment.
            #expect(suite[number] == 1)
            #expect(fails(with: .unavailable) { _ = try suite.contents() })
            #expect(fails(with: .unavailable) { _ = try suite.read(number) })
            for _ in 0..<6_000 where suite[number] != 0 { usleep(10_000) }
            #expect(suite[number] == 0)
            #expect(try suite.contents().isEmpty)
            #expect(open(file)[number] == 0)
            let token = suite.observe(number) { _ in }
            token.cancel()
            #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
    }

    /// A deployment may remove a folder or a link before it creates another one.
    @Test(arguments: [true, false]) func aFolderOrLinkThatIsBackInAMomentWasNeverMissing(isLink: Bool) throws {
        try withFolder { file in
            let folder = file.deletingLastPathComponent()
            open(file)[number] = 1
            let link = folder.appending(path: "link.defaults")
            #expect(symlink(file.path, link.path) == 0)
            let suite = open(isLink ? link : file)
            let failures = Failures(of: suite)
            let heard = Heard { note in suite.observe(number) { note($0.newValue) } }
            let (path, moved) = isLink ? (link.path, link.path + "-moved") : (folder.path, folder.path + "-moved")
            #expect(rename(path, moved) == 0)
            try suite.synchronize()
            #expect(suite[number] == 1)
            #expect(fails(with: .unavailable) { _ = try suite.read(number) })
            #expect(rename(moved, path) == 0)
            #expect(try suite.read(number) == 1)
            usleep(1_500_000)
            #expect(try suite.read(number) == 1)
            #expect(heard.all == [] && failures.kinds == [])
            // The first absence does not count for the next one.
            #expect(rename(path, moved) == 0)
            try suite.synchronize()
            #expect(suite[number] == 1)
            #expect(rename(moved, path) == 0)
        }
    }

    /// Otherwise, the write would create a folder where a deployment is about to put a link.
    @Test(arguments: [true, false]) func aWriteWaitsForAFolderOrLink(isLink: Bool) throws {
        try withFolder { file in
            let folder = file.deletingLastPathComponent()
            open(file)[number] = 1
            let link = folder.appendingPathExtension("link")
            #expect(symlink(folder.path, link.path) == 0)
            let suite = open(isLink ? link.appending(path: file.lastPathComponent) : file)
            #expect(suite[number] == 1)
            let path = isLink ? link.path : folder.path
            // A look that found it missing, and none for more than two seconds, does not count.
            #expect(rename(path, path + "-moved") == 0)
            try suite.synchronize()
            #expect(rename(path + "-moved", path) == 0)
            usleep(3_000_000)
            #expect(rename(path, path + "-moved") == 0)
            let isBack = onThread {
                usleep(100_000)
                // This fails if the write has created something.
                #expect(rename(path + "-moved", path) == 0)
            }
            try UserDefault(number, in: suite).store.save(2)
            isBack.wait()
            #expect(open(file)[number] == 2)
            try FileManager.default.removeItem(at: link)
        }
    }

    /// The rules hold for a process that has the file open, too.
    @Test func aFileThatGetsASecondLinkWhileOpenIsRefused() throws {
        try withFolder { file in
            let store = UserDefault(number, in: open(file)).store
            try store.save(1)
            let copy = file.appendingPathExtension("copy")
            #expect(link(file.path, copy.path) == 0)
            #expect(fails(with: .unavailable) { try store.save(2) })
            #expect(store.get() == 1)
            #expect(fails(with: .unavailable) { _ = try store.load() })
            try FileManager.default.removeItem(at: copy)
            #expect(try store.load() == 1)
            try store.save(2)
        }
    }

    /// Runs `body` with a file in a folder of its own, which it may move.
    private func withFolder(_ body: (URL) throws -> Void) throws {
        try withFile { file in
            let folder = file.deletingLastPathComponent().appending(path: "folder")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try body(folder.appending(path: "test.defaults"))
        }
    }
}
