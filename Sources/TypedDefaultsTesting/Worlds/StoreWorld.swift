public import TypedDefaults

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A kind of store that a view model will meet.
///
/// One test checks a view model in each of them:
///
/// ```swift
/// @Test(arguments: StoreWorld<CameraConfig>.all) @MainActor
/// func zoomingIn(world: StoreWorld<CameraConfig>) async {
///     await world.check { store in
///         CameraModel(config: store)
///     } act: { model in
///         model.zoomIn()
///     } shows: { model, config in
///         model.title == "Zoom \(config.zoom)×"
///     } reports: { model in
///         model.message != nil
///     }
/// }
/// ```
///
/// See <doc:OneTestForEveryStore>.
public struct StoreWorld<Config: DefaultConfig>: Sendable, CustomStringConvertible {
    enum Place { case memory, file, fullDisk, unavailableAtFirst, shared }

    /// The name of the world, such as “a full disk”.
    public let description: String
    let place: Place
    let contents: SuiteContents

    private init(_ description: String, _ config: PropertyList?, in place: Place = .memory) {
        (self.description, self.place) = (description, place)
        var contents: SuiteContents = ["a setting of other code": "kept"]
        contents[Config.key] = config
        self.contents = contents
    }

    /// The worlds that need no files: nothing stored, values in memory and in a file, a full disk,
    /// values that cannot be read in whole or in part, a place that is unavailable at first,
    /// another process that writes between a read and a write, and the values of an older and of a
    /// newer release.
    public static var all: [StoreWorld] {
        let (chosen, names) = (Self.chosen, Self.chosen.keys.sorted())
        let faulty = chosen.merging(names.prefix(1).map { ($0, [[[]]]) }) { $1 }
        let newer = chosen.merging(["aPropertyOfANewerRelease": ["value": 1]]) { $1 }
        return [
            StoreWorld("nothing stored", nil), StoreWorld("in memory", .dictionary(chosen)),
            StoreWorld("a file", .dictionary(chosen), in: .file),
            StoreWorld("a full disk", .dictionary(chosen), in: .fullDisk),
            StoreWorld("unreadable", "no config"), StoreWorld("partly unreadable", .dictionary(faulty)),
            StoreWorld("unavailable at first", .dictionary(chosen), in: .unavailableAtFirst),
            StoreWorld("another process writes", .dictionary(chosen), in: .shared),
            StoreWorld("an older release", .dictionary(chosen.filter { $0.key == names.last })),
            StoreWorld("a newer release", .dictionary(newer)),
        ]
    }

    /// The worlds of users who have chosen everything in a release that `expectRelease` has
    /// recorded, in the folder `Fixtures/Releases` beside the test.
    public static func releases(named name: String? = nil, filePath: StaticString = #filePath) throws -> [StoreWorld] {
        try Fixture.all(in: Fixture(name.map { "Releases/\($0)" } ?? "Releases", besides: filePath).path).map { file in
            let record = try file.decode(ReleaseRecord.self)
            let sample = record.samples.first { $0.name == "everything" }
            return StoreWorld("release \(file.name)", sample?.stored[Config.key])
        }
    }

    /// The entries of a config with another value for each property, as far as one is found.
    static var chosen: [String: PropertyList] {
        let key = DefaultKey(Config.self)
        var all = (try? key.read([:])) ?? [:]
        for (path, values, _) in key.choices(all, all, key.defaultValue) where !values.isEmpty {
            let next = all.replacing(path[...], by: values[0])
            if key.accepts(next) { all = next }
        }
        return all.entries ?? [:]
    }
}
