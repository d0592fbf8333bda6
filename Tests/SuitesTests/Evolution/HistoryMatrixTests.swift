import TestSupport
import Testing
import TypedDefaults

#if canImport(AppleFoundation)
    import AppleFoundation
#else
    import Foundation
#endif

/// Every export that can meet every suite. Each value must be what a user of the release would see:
/// no step runs twice on it, and none is left out.
struct HistoryMatrixTests {
    enum Way: String, CaseIterable {
        case merge, replace
        case mergeMigrating, replaceMigrating
        case move, copy
    }
    enum Place: CaseIterable { case memory, file, scope }
    struct Case: CustomTestStringConvertible {
        /// `nil` for text that was written by hand for the program that imports it.
        let export: VolumeRelease?
        /// `nil` for a new suite.
        let suite: VolumeRelease?
        /// The release that imports.
        let program: VolumeRelease

        var testDescription: String {
            let suite = suite.map { "the suite of \($0)" } ?? "a new suite"
            return "\(export.map { "export of \($0)" } ?? "by hand") into \(suite), in \(program)"
        }
    }

    static let cases: [Case] = VolumeRelease.allCases.flatMap { program in
        (VolumeRelease.allCases.map(Optional.some) + [nil]).flatMap { export in
            // A newer release has migrated the suite, or an older one has used it.
            (VolumeRelease.allCases.map(Optional.some) + [nil]).map {
                Case(export: export, suite: $0, program: program)
            }
        }
    }

    @Test(arguments: cases, Way.allCases)
    func eachValueIsWhatAUserSees(_ matrix: Case, way: Way) throws {
        for place in Place.allCases {
            let file = try makeFile()
            defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
            let whole = place == .file ? try DefaultsSuite(file: file) : .inMemory()
            try check(matrix, way, in: place == .scope ? whole.scoped("user/") : whole)
        }
    }

    private func check(_ matrix: Case, _ way: Way, in suite: DefaultsSuite) throws {
        let failures = Failures(of: suite)
        if let release = matrix.suite {
            try VolumeRelease.one.choose(["left": 7, "right": 5], in: suite)
            try suite.migrate(release.migrator)
        }
        // A program migrates at its launch. If it is older than the suite, it cannot read it.
        let program = max(matrix.program, matrix.suite ?? .one)
        let isLaunched = way != .move && way != .copy
        if isLaunched { try suite.migrate(matrix.program.migrator) }
        let (before, history) = (try suite.contents(), try suite.appliedMigrations())

        let source = DefaultsSuite.inMemory()
        var export = try SuiteContents(json: matrix.program.handWritten(["left": 3]))
        if let release = matrix.export {
            try VolumeRelease.one.choose(["left": 3], in: source)
            try source.migrate(release.migrator)
            export = try SuiteContents(json: source.contents().json())
        } else if !isLaunched {
            return
        }
        var isRefused = false
        do {
            switch way {
            case .merge: try suite.merge(export)
            case .replace: try suite.replaceContents(with: export)
            case .mergeMigrating: try suite.merge(export, migrating: matrix.program.migrator)
            case .replaceMigrating: try suite.replaceContents(with: export, migrating: matrix.program.migrator)
            case .move: isRefused = try !source.move(.all, to: suite).refused.isEmpty
            case .copy: isRefused = try !source.copy(.all, to: suite).refused.isEmpty
            }
        } catch let error as DefaultsError where error.kind == .refused {
            isRefused = true
        }

        // Which step each side has been through is known. Refused is what would be of two forms.
        let here = try Set(suite.contents().history ?? [])
        if isRefused {
            #expect(try suite.contents() == before)
            #expect(try suite.appliedMigrations() == history)
            #expect(way != .mergeMigrating && way != .replaceMigrating, "a migrator is the cure")
            #expect(here != Set(export.history ?? []))
        }
        let isForeign = failures.kinds.contains(.conflict)
        #expect(isForeign == false || way == .mergeMigrating || way == .replaceMigrating)

        // The last release of all is the judge.
        try suite.migrate(VolumeRelease.three.migrator)
        let volumes = try VolumeRelease.three.volumes(suite)
        let isMove = way == .move || way == .copy
        if isRefused {
            #expect(volumes == (matrix.suite == nil ? [:] : ["left": 7, "right": 5]))
            return
        }
        // Text by hand is for the program that imports it, in the form that its suite has.
        guard matrix.export != nil || program == matrix.program else { return }
        // The part that only one side has been through is reported, and no promise is made for it.
        if isForeign, way == .mergeMigrating { return }
        let expectedLeft: Int64 = isMove && matrix.suite != nil ? 7 : 3
        #expect(volumes["left"] == expectedLeft)
        let keepsRight = matrix.suite != nil && way != .replace && way != .replaceMigrating
        #expect(volumes["right"] == (keepsRight ? 5 : nil))
    }
}
