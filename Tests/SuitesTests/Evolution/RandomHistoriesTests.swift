import TestSupport
import Testing

@testable import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

/// Random lives of two users with one program: launches, upgrades, choices, resets, exports,
/// imports, moves and interrupted updates, against a model.
struct RandomHistoriesTests {
    /// `TYPED_DEFAULTS_HISTORIES=10000` runs all of them.
    private static let count = ProcessInfo.processInfo.environment["TYPED_DEFAULTS_HISTORIES"].flatMap(Int.init) ?? 400

    private enum Place { case memory, file, scope }
    private struct Export {
        let json: Data
        let volumes: [String: Int64]
        let version: VolumeRelease
    }

    /// One user's suite, and what the user has chosen.
    private final class User {
        var place: Place
        var file: URL?
        var suite: DefaultsSuite
        var program = VolumeRelease.one
        /// The release that the history of the suite tells.
        var version = VolumeRelease.one
        var volumes: [String: Int64] = [:]
        /// The channels of which no promise is made: two releases were mixed, which was reported.
        var mixed: Set<String> = []

        init(_ place: Place) throws {
            self.place = place
            suite = .inMemory()
            try open()
        }

        /// Opens a new suite.
        func open() throws {
            file = place == .file ? try makeFile() : nil
            try reopen()
            if place == .memory { suite = .inMemory() }
            if place == .scope { suite = DefaultsSuite.inMemory().scoped("user/") }
        }

        /// Ends the program, and starts it again.
        func reopen() throws {
            guard let file else { return }
            suite = DefaultsSuite(backend: FileBackend(path: file.path))
        }

        deinit { if let file { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) } }
    }

    @Test func noStepRunsTwiceAndNoneIsLeftOut() throws {
        var steps: [String: Int] = [:]
        for number in 0..<Self.count {
            var random = SeededGenerator(seed: UInt64(number))
            let users = try (0..<2).map { _ in
                try User(number % 50 == 0 ? .file : number % 2 == 0 ? .memory : .scope)
            }
            var exports: [Export] = []
            for step in 0..<25 {
                let name = try self.step(of: users.randomElement(using: &random)!, &exports, &random)
                steps[name, default: 0] += 1
                for user in users {
                    let (history, steps) = (try user.suite.appliedMigrations(), user.version.rawValue - 1)
                    guard history.count == steps, try isRight(user) else {
                        Issue.record("history \(number), step \(step), \(name): \(history), not \(steps) steps")
                        return
                    }
                }
            }
        }
        // Each kind of step was among them.
        #expect(steps.count == 15, "\(steps)")
    }

    private static let resets: [String: @Sendable (DefaultsSuite) throws -> Void] = [
        "removeAll": { try $0.removeAll() },
        "replaceContents": { try $0.replaceContents(with: [:]) },
        "assigned": { try $0.update { $0 = SuiteContents() } },
        "contents.removeAll": { try $0.update { $0.removeAll() } },
        "each key": { try $0.update { contents in for key in contents.keys { contents[key] = nil } } },
        "remove(keys())": { $0.remove(try $0.keys()) },
        "by hand": { try $0.replaceContents(with: SuiteContents(json: Data("{}".utf8))) },
        "an export of nothing": { try $0.replaceContents(with: DefaultsSuite.inMemory().contents()) },
        "moved away": { try $0.move(.all, to: .inMemory()) },
    ]

    /// Returns whether the program, if it is the one of the suite's form, reads what was chosen.
    private func isRight(_ user: User) throws -> Bool {
        guard user.program == user.version else { return true }
        let found = try user.program.volumes(user.suite).filter { !user.mixed.contains($0.key) }
        return found == user.volumes.filter { !user.mixed.contains($0.key) }
    }

    private func step(
        of user: User, _ exports: inout [Export], _ random: inout SeededGenerator
    ) throws -> String {
        let channel = VolumeRelease.channels.randomElement(using: &random)!
        let export = exports.randomElement(using: &random)
        let isReplacing = Bool.random(using: &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0:
            guard let next = user.program.successor, Bool.random(using: &random) else { break }
            user.program = next
            try launch(user)
            return "upgrade"
        case 1, 2:
            try launch(user)
            return "launch"
        case 3, 4:
            guard user.program == user.version else { break }
            let volume = Int64.random(in: 0...10, using: &random)
            try user.program.choose([channel: volume], in: user.suite)
            user.volumes[channel] = volume
            user.mixed.remove(channel)
            return "choose"
        case 5:
            let way = Self.resets.keys.sorted().randomElement(using: &random)!
            try Self.resets[way]!(user.suite)
            (user.volumes, user.mixed) = ([:], [])
            return "reset"
        case 6:
            guard user.mixed.isEmpty else { break }
            exports.append(
                try Export(json: user.suite.contents().json(), volumes: user.volumes, version: user.version))
            return "export"
        case 7, 8:
            guard let export else { break }
            return try importMigrating(export, isReplacing, into: user)
        case 9:
            // A mixed value may be stored under the key of another release.
            guard let export, user.mixed.isEmpty else { break }
            return try importPlainly(export, isReplacing, into: user)
        case 10:
            guard user.program == user.version else { break }
            let volume = Int64.random(in: 0...10, using: &random)
            let contents = try SuiteContents(json: user.program.handWritten([channel: volume]))
            if isReplacing {
                try user.suite.replaceContents(with: contents, migrating: user.program.migrator)
                (user.volumes, user.mixed) = ([:], [])
            } else {
                try user.suite.merge(contents, migrating: user.program.migrator)
            }
            user.volumes[channel] = volume
            user.mixed.remove(channel)
            return "by hand"
        case 11:
            let old = user.suite
            let kept = user.file
            try user.open()
            defer { if let kept { try? FileManager.default.removeItem(at: kept.deletingLastPathComponent()) } }
            // Nothing moves out of an empty suite, and the new one has been through nothing.
            if try old.contents().isEmpty { user.version = .one }
            if isReplacing { try old.move(.all, to: user.suite) } else { try old.copy(.all, to: user.suite) }
            try launch(user)
            return isReplacing ? "move" : "copy"
        default:
            struct Stop: Error {}
            #expect(throws: Stop.self) {
                try user.suite.update { contents in
                    contents.removeAll(includingHistory: isReplacing)
                    contents["volume/\(channel)"] = 99
                    try VolumeRelease.three.migrator.migrate(&contents)
                    throw Stop()
                }
            }
            return "interrupted"
        }
        return "none"
    }

    private func launch(_ user: User) throws {
        try user.reopen()
        try user.suite.migrate(user.program.migrator)
        user.version = max(user.version, user.program)
    }

    private func importMigrating(_ export: Export, _ isReplacing: Bool, into user: User) throws -> String {
        let failures = Failures(of: user.suite)
        let contents = try SuiteContents(json: export.json)
        if isReplacing {
            try user.suite.replaceContents(with: contents, migrating: user.program.migrator)
        } else {
            try user.suite.merge(contents, migrating: user.program.migrator)
        }
        let old = max(user.version, user.program)
        let arriving = max(export.version, user.program)
        let isForeign = isReplacing ? old < arriving : old != arriving
        #expect(failures.kinds == (isForeign ? [.conflict] : []))
        guard !isReplacing else {
            (user.version, user.volumes, user.mixed) = (arriving, export.volumes, [])
            return "migrating replacement"
        }
        user.version = max(old, arriving)
        let staying = user.volumes.filter { export.volumes[$0.key] == nil }
        user.volumes = staying.merging(export.volumes) { $1 }
        user.mixed = user.mixed.intersection(staying.keys)
        if old < arriving { user.mixed.formUnion(staying.keys) }
        if arriving < old { user.mixed.formUnion(export.volumes.keys) }
        return "migrating merge"
    }

    private func importPlainly(_ export: Export, _ isReplacing: Bool, into user: User) throws -> String {
        let staying = isReplacing ? [:] : user.volumes.filter { export.volumes[$0.key] == nil }
        // The third release has other keys, so the values of an earlier one stay.
        let areKept = !staying.isEmpty || export.version == .three && !isReplacing && !user.volumes.isEmpty
        let isOfOneForm = export.version == user.version || export.version > user.version && !areKept
        let isRefused = !isOfOneForm && !export.volumes.isEmpty
        let contents = try SuiteContents(json: export.json)
        #expect(
            fails(with: .refused) {
                if isReplacing {
                    try user.suite.replaceContents(with: contents)
                } else {
                    try user.suite.merge(contents)
                }
            } == isRefused)
        guard !isRefused else { return "refusal" }
        user.volumes = staying.merging(export.volumes) { $1 }
        user.mixed = user.mixed.intersection(staying.keys)
        if isOfOneForm { user.version = max(user.version, export.version) }
        return "plain \(isReplacing ? "replacement" : "merge")"
    }
}
