package import TypedDefaults

#if canImport(AppleFoundation)
    package import AppleFoundation
#else
    package import Foundation
#endif

/// A program of three releases, each of which stores the volumes of two channels in another form.
/// No step can run twice, or be left out, without a wrong value.
package enum VolumeRelease: Int, CaseIterable, Comparable {
    /// 0...10
    case one = 1
    /// In percent.
    case two
    /// In percent above 1,000, under another name.
    case three

    package static let channels = ["left", "right"]

    private func key(_ channel: String) -> String { self == .three ? "level/\(channel)" : "volume/\(channel)" }

    /// Returns what this release stores for a volume of 0...10.
    private func form(_ volume: Int64) -> Int64 {
        switch self {
        case .one: volume
        case .two: volume * 10
        case .three: volume * 10 + 1_000
        }
    }

    package var migrator: DefaultsMigrator {
        var migrator = DefaultsMigrator()
        if rawValue >= 2 {
            migrator.register("2.0: in percent") { contents in
                for channel in Self.channels {
                    guard case .integer(let old)? = contents[VolumeRelease.one.key(channel)] else { continue }
                    contents[VolumeRelease.two.key(channel)] = .integer(old * 10)
                }
            }
        }
        if rawValue >= 3 {
            migrator.register("3.0: a level") { contents in
                for channel in Self.channels {
                    guard case .integer(let old)? = contents[VolumeRelease.two.key(channel)] else { continue }
                    contents[VolumeRelease.three.key(channel)] = .integer(old + 1_000)
                    contents[VolumeRelease.two.key(channel)] = nil
                }
            }
        }
        return migrator
    }

    /// The user chooses volumes.
    package func choose(_ volumes: [String: Int64], in suite: DefaultsSuite) throws {
        try suite.update { contents in
            for (channel, volume) in volumes { contents[key(channel)] = .integer(form(volume)) }
        }
    }

    /// The volumes that this release reads; a wrong form reads as a volume that is out of range.
    package func volumes(_ suite: DefaultsSuite) throws -> [String: Int64] {
        let contents = try suite.contents()
        var volumes: [String: Int64] = [:]
        for channel in Self.channels {
            guard case .integer(let stored)? = contents[key(channel)] else { continue }
            let volume = (0...10).first { form($0) == stored }
            volumes[channel] = volume ?? -stored
        }
        return volumes
    }

    /// What a user of this release would write by hand.
    package func handWritten(_ volumes: [String: Int64]) -> Data {
        let entries = volumes.map { "\"\(key($0.key))\": \(form($0.value))" }
        return Data("{\(entries.joined(separator: ", "))}".utf8)
    }

    package var successor: VolumeRelease? { VolumeRelease(rawValue: rawValue + 1) }

    package static func < (one: VolumeRelease, other: VolumeRelease) -> Bool { one.rawValue < other.rawValue }
}
