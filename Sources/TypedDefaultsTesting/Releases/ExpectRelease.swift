public import TypedDefaults

/// Expects that users of earlier releases read what they read before, except for what the record of
/// this release approves.
///
/// ```swift
/// @Test func whatThisReleaseDoesToItsUsers() {
///     expectRelease("1.6", of: CameraConfig.self, .volume, .theme)
/// }
/// ```
///
/// Each release has a record, a JSON file in the folder `Fixtures/Releases` beside the test. It
/// holds what sample users of the release have stored and read. The records of all other releases
/// are read as the types and the migrator of this release read them, and each difference is one
/// line:
///
/// ```
/// ~ zoom: a user who never chose it gets 2.0 instead of 1.0
/// ! size: a user who chose "huge" gets "medium"
/// - grid: no longer read, stays stored
/// + raw
/// < size: a user who chooses "tiny" and downgrades loses it
/// ```
///
/// The test fails until the record of this release approves these lines. To write the record, run
/// the test once with `record: true`, or with the environment variable `TYPED_DEFAULTS_RECORD=1`.
/// A run that writes a record fails, and none is written if the variable `CI` is set. See
/// <doc:BeforeYouRelease>.
///
/// The version is the one that is released next. After the type of a config come the keys of all
/// other settings; `DefaultKey(PageConfig.self)` is the key of another config. `migrating` takes
/// the steps that the program applies at launch. `named` tells two sets of settings apart that are
/// tested in one folder. `samples` are users whose choices the test does not find itself, by name.
public func expectRelease<Config: DefaultConfig, each Value>(
    _ version: String, of config: Config.Type, _ keys: repeat DefaultKey<each Value>,
    migrating migrator: DefaultsMigrator = DefaultsMigrator(), named name: String? = nil,
    samples: [String: (inout SuiteContents) throws -> Void] = [:], record isRecording: Bool = false,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
    expectRelease(
        version, of: DefaultKey(config), repeat each keys, migrating: migrator, named: name, samples: samples,
        record: isRecording, fileID: fileID, filePath: filePath, line: line, column: column)
}

/// Expects that users of earlier releases read what they read before, except for what the record of
/// this release approves.
///
/// ```swift
/// expectRelease("1.6", of: .volume, .theme)
/// ```
public func expectRelease<First, each Value>(
    _ version: String, of key: DefaultKey<First>, _ keys: repeat DefaultKey<each Value>,
    migrating migrator: DefaultsMigrator = DefaultsMigrator(), named name: String? = nil,
    samples: [String: (inout SuiteContents) throws -> Void] = [:], record isRecording: Bool = false,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    var program = ReleasedProgram(settings: [key], migrator: migrator, customSamples: samples)
    repeat program.settings.append(each keys)
    let folder = Fixture(name.map { "Releases/\($0)" } ?? "Releases", besides: filePath).path
    do {
        let message = try program.check(version, in: folder, isRecording: Fixture.isRecording(onRequest: isRecording))
        if let message { recordIssue(message, at: site) }
    } catch { recordIssue("release \(version): \(error)", at: site) }
}
