#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    // Not tested on Apple platforms.
    extension File {
        /// Creates an empty file that is readable from the first unlock after a restart on,
        /// whatever protection class the app has by default. A push notification or a widget can
        /// then read settings while the device is locked. Opening the file before the first unlock
        /// fails.
        func make(_ name: String, inFolder path: String) throws(FileFailure) -> File {
            do {
                // Create the file with its class. If the app's default is stricter, a file of the
                // default class cannot be created while the device is locked.
                try Data().write(
                    to: URL(filePath: "\(path)/\(name)"),
                    options: [.withoutOverwriting, .completeFileProtectionUntilFirstUserAuthentication])
            } catch {
                // This call fails for the same reason, and throws a `FileFailure`.
                return try file(name, .createExclusively)
            }
            // An unusual `umask` may have withheld rights. If this fails, the next line says why.
            _ = chmod("\(path)/\(name)", 0o600)
            return try file(name, .readWrite)
        }
    }
#else
    extension File {
        /// Creates an empty file. This system has no protection classes.
        func make(_ name: String, inFolder path: String) throws(FileFailure) -> File {
            try file(name, .createExclusively)
        }
    }
#endif
