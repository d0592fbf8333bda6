import Foundation
import TestSupport
import Testing

@testable import SettingsFile
@testable import SettingsFileInspection
@testable import TypedDefaults

/// Tests of a settings file that is named by a symbolic link, as programs that manage configuration
/// files create it.
struct LinkedFileTests: SettingsFileTests {
    /// Runs `body` with a path in one folder, and the path of a target in another.
    private func withLink(
        to form: String = "absolute", _ body: (_ link: URL, _ target: URL) throws -> Void
    ) throws {
        try withFile { file in
            let folder = file.deletingLastPathComponent().appending(path: "dotfiles")
            try makeFolder(folder)
            try makeFolder(file.deletingLastPathComponent().appending(path: "config"))
            let link = file.deletingLastPathComponent().appending(path: "config/test.defaults")
            let file = folder.appending(path: "target.defaults")
            let target = form == "relative" ? "../dotfiles/target.defaults" : file.path
            #expect(symlink(target, link.path) == 0)
            try body(link, file)
        }
    }

    private func makeFolder(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    private func isLink(_ file: URL) -> Bool {
        var status = stat()
        return lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    @Test(arguments: ["absolute", "relative"]) func aLinkIsFollowed(form: String) throws {
        try withLink(to: form) { link, target in
            let suite = open(link)
            #expect(suite[number] == 0)
            suite[number] = 1
            #expect(isLink(link))
            #expect(open(target)[number] == 1)
            // A compaction replaces the target, not the link.
            fill(suite)
            try suite.synchronize()
            #expect(isLink(link))
            #expect(try FileInspection(file: target).epoch ?? 0 > 0)
            open(target)[number] = 2
            #expect(suite[number] == 2)
            let names = try names(beside: target)
            #expect(names == [target.lastPathComponent])
        }
    }

    @Test func aLinkThatLeadsElsewhereIsNoticedByTheNextWrite() throws {
        try withLink { link, target in
            let suite = open(link)
            suite[number] = 1
            try suite.synchronize()
            let other = target.appendingPathExtension("other")
            open(other)[number] = 7
            #expect(unlink(link.path) == 0 && symlink(other.path, link.path) == 0)
            try suite.update(number) { $0 += 1 }
            #expect(open(other)[number] == 8)
            #expect(open(target)[number] == 1)
        }
    }

    @Test(arguments: ["./", "", "../config/", "missing/../"])
    func aSpellingOfAPathIsTheSameSuite(_ spelling: String) throws {
        try withLink { link, _ in
            let suite = try DefaultsSuite(file: link)
            let path = link.deletingLastPathComponent().path + "//\(spelling)\(link.lastPathComponent)"
            let other = try DefaultsSuite(file: URL(filePath: path))
            #expect(other.location == link.path)
            try suite.update { _ in #expect(fails(with: .nestedWrite) { try other.update { $0["a"] = 1 } }) }
        }
    }

    /// Two names of one file are two suites. Only the lock of the file keeps them apart, and a
    /// nested write would wait for itself.
    @Test func anUpdateInsideOneOfAnotherNameFailsAtOnce() throws {
        try withLink { link, target in
            let (suite, other) = (try DefaultsSuite(file: link), try DefaultsSuite(file: target))
            let start = ContinuousClock.now
            try suite.update { contents in
                contents["a"] = 1
                let error = #expect(throws: DefaultsError.self) { try other.update { $0["b"] = 2 } }
                #expect(error?.kind == .nestedWrite)
                #expect(error?.reason.contains("cannot write") == true)
                #expect(error?.reason.contains("it is the same file as") == true)
            }
            #expect(ContinuousClock.now - start < .seconds(1.5))
            try other.update { $0["b"] = 2 }
            #expect(try suite.keys().sorted() == ["a", "b"])
        }
    }

    @Test(arguments: ["config", "dotfiles"])
    func aLinkInOrIntoAFolderOfAllUsersIsRefused(path: String) throws {
        try withLink { link, target in
            open(target)[number] = 1
            let changed = link.deletingLastPathComponent().deletingLastPathComponent().appending(path: path)
            #expect(chmod(changed.path, 0o702) == 0)
            let store = UserDefault(number, in: open(link)).store
            let error = #expect(throws: DefaultsError.self) { _ = try store.load() }
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains("all users can write to its folder") == true)
            #expect(fails(with: .unavailable) { try store.save(2) })
            #expect(chmod(changed.path, 0o700) == 0)
            try store.save(3)
            #expect(open(target)[number] == 3)
        }
    }

    @Test func aLinkIntoAMissingFolderIsNoReasonToCreateOne() throws {
        try withLink { link, target in
            let folder = target.deletingLastPathComponent()
            try FileManager.default.removeItem(at: folder)
            let store = UserDefault(number, in: open(link)).store
            #expect(fails(with: .unavailable) { _ = try store.load() })
            let error = #expect(throws: DefaultsError.self) { try store.save(1) }
            #expect(
                error?.reason.contains("a symbolic link into the folder \(folder.path), which does not exist") == true)
            #expect(fails(with: .unavailable) { try open(link).checkReadability() })
            #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
    }

    @Test func aCircleOfLinksIsRefused() throws {
        try withLink { link, target in
            #expect(symlink(link.path, target.path) == 0)
            #expect(fails(with: .unavailable) { try UserDefault(number, in: open(link)).store.save(1) })
        }
    }

    #if os(Linux)
        @Test func aLinkOfAnotherUserIsRefused() throws {
            guard geteuid() == 0 else { return }
            try withLink { link, target in
                #expect(lchown(link.path, 65_534, 65_534) == 0)
                #expect(fails(with: .unavailable) { try UserDefault(number, in: open(link)).store.save(1) })
                #expect(!FileManager.default.fileExists(atPath: target.path))
            }
        }
    #endif
}
