import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// Whether a device that was restarted has been unlocked since, so that `UserDefaults` shows what is stored.
    ///
    /// Before that it looks empty and says nothing, and what a program then writes replaces everything. A key that is always there once
    /// something was stored tells: https://forums.developer.apple.com/forums/thread/15685. Whether something was stored ever, a file
    /// tells whose name can be seen before the first unlock and whose contents cannot.
    final class FirstUnlock: Sendable {
        /// Never listed or removed by a suite.
        static let sentinel = "TypedDefaults.unlocked"

        /// The file beside the settings, with their protection.
        struct Probe: Sendable {
            /// Nil if there is none.
            let isReadable: @Sendable () -> Bool?
            let plant: @Sendable () throws -> Void
        }
        private let probe: Probe
        private let domain: String?
        private enum Answer { case unknown, locked, unlocked }
        private let answer = Locked(Answer.unknown)
        private let isPlanted = Locked(false)

        init(_ probe: Probe, domain: String? = nil) {
            self.probe = probe
            self.domain = domain
        }

        /// Throws as long as nothing can be known of what is stored.
        func check(_ defaults: UserDefaults) throws(DefaultsError) {
            guard answer.withLock({ $0 }) != .unlocked else { return }
            var isSeen = defaults.object(forKey: Self.sentinel) != nil
            if !isSeen, answer.withLock({ $0 }) == .locked {
                // The sentinel goes with all else when other code empties the domain. What came after that tells as much.
                _ = defaults.synchronize()
                isSeen = domain.map { defaults.persistentDomain(forName: $0)?.isEmpty == false } ?? false
            }
            let isReadable = isSeen ? true : probe.isReadable()
            let isLocked = answer.withLock { answer in
                // A process that found its settings locked may see them empty for as long as it lives, so the file is not enough then.
                if isSeen || isReadable == nil || isReadable == true && answer == .unknown {
                    answer = .unlocked
                } else {
                    answer = .locked
                }
                return answer == .locked
            }
            guard isLocked else { return }
            throw DefaultsError(
                .unavailable, reason: "the device was restarted and not unlocked since, so settings cannot be read")
        }

        /// To be called after a commit.
        func plant(in defaults: UserDefaults) {
            let isFirst = isPlanted.withLock { isPlanted in
                defer { isPlanted = true }
                return !isPlanted
            }
            guard isFirst else { return }
            do {
                if probe.isReadable() == nil { try probe.plant() }
                if defaults.object(forKey: Self.sentinel) == nil { defaults.set(true, forKey: Self.sentinel) }
            } catch {
                writeToLog(
                    DefaultsError.Kind.unavailable.description,
                    line: "TypedDefaults: settings before the first unlock will look empty, since no file can be made")
            }
        }
    }

    extension FirstUnlock.Probe {
        /// A file in that folder.
        init(folder: URL, domain: String) {
            let file = folder.appending(path: "TypedDefaults-\(domain)")
            self.init {
                FileManager.default.fileExists(atPath: file.path)
                    ? FileManager.default.contents(atPath: file.path).map { !$0.isEmpty } ?? false : nil
            } plant: {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data("TypedDefaults".utf8).write(
                    to: file, options: .completeFileProtectionUntilFirstUserAuthentication)
            }
        }
    }
#endif
