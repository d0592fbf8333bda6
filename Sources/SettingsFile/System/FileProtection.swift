#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    // Not run on Apple platforms.
    extension File {
        /// Makes an empty file in this directory that can be read from the first unlock after a restart on, whatever class the app has by
        /// default, so that a push or a widget finds its settings while the device is locked. Before that, opening it fails.
        func make(_ name: String, inFolder path: String) throws(FileFailure) -> File {
            do {
                // With its class from the start: where the app's default is stricter, no file of that one can be made while the device
                // is locked.
                try Data().write(
                    to: URL(filePath: "\(path)/\(name)"),
                    options: [.withoutOverwriting, .completeFileProtectionUntilFirstUserAuthentication])
            } catch {
                // Fails for the same reason, and says so as is understood here.
                return try file(name, .createExclusively)
            }
            do throws(FileFailure) {
                let made = try file(name, .readWrite)
                _ = fchmod(made.descriptor, 0o600)
                return made
            } catch let error where error.isMissing {
                // Another process took it for one that was left behind, and removed it.
                return try make(name, inFolder: path)
            }
        }
    }
#else
    extension File {
        /// Makes an empty file in this directory. Elsewhere than on iOS and the like there are no classes of protection.
        func make(_ name: String, inFolder path: String) throws(FileFailure) -> File {
            try file(name, .createExclusively)
        }
    }
#endif
