#if !canImport(Darwin)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #elseif canImport(Android)
        import Android
    #else
        #error("SettingsFile needs getenv and readlink")
    #endif

    /// The folder and the name for a program's settings outside Apple platforms, by the XDG Base
    /// Directory Specification.
    package enum SettingsFolder {
        /// `$XDG_CONFIG_HOME`, or else `~/.config`; `nil` if neither is an absolute path in UTF-8.
        ///
        /// A program with more privileges than its caller (setuid) ignores the caller's environment
        /// variables. It uses the home folder of its effective user in the user database.
        package static var path: String? {
            let folders = [(variable("XDG_CONFIG_HOME"), ""), (variable("HOME") ?? trustedHome, "/.config")]
            guard let (folder, suffix) = folders.first(where: { $0.0?.first == UInt8(ascii: "/") }), let folder,
                // Replacing invalid UTF-8 would silently choose another folder.
                let path = String(validating: folder, as: UTF8.self)
            else { return nil }
            return path + suffix
        }

        /// Returns an environment variable, unless the program has more privileges than its caller.
        package static func string(ofVariable name: String) -> String? {
            variable(name).flatMap { String(validating: $0, as: UTF8.self) }
        }

        private static func variable(_ name: String) -> [UInt8]? { secureVariable(name).map { bytes(of: $0) } }

        private static func bytes(of string: UnsafePointer<CChar>) -> [UInt8] {
            Array(UnsafeRawBufferPointer(start: string, count: strlen(string)))
        }

        /// The home folder if `HOME` is set but cannot be trusted.
        private static var trustedHome: [UInt8]? {
            guard getenv("HOME") != nil else { return nil }
            var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
                guard getpwuid_r(geteuid(), &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil,
                    let home = entry.pw_dir
                else { return nil }
                return bytes(of: home)
            }
        }

        /// The file name of the running executable, as bytes that may not be UTF-8. Resolves
        /// symbolic links, and ignores the name by which the program was started.
        ///
        /// Without `/proc`, this is the name by which the program was started, or empty if that is
        /// unknown.
        package static let executableName: [UInt8] = {
            var buffer = [UInt8](repeating: 0, count: Int(clamping: PATH_MAX))
            let count = buffer.withUnsafeMutableBytes {
                readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
            }
            var path = count > 0 ? Array(buffer[..<count]) : invocationName
            // The system appends this if the executable was replaced while it runs.
            let mark = Array(" (deleted)".utf8)
            let isMissing = (path + [0]).withUnsafeBytes {
                access($0.baseAddress!.assumingMemoryBound(to: CChar.self), F_OK) != 0
            }
            if path.suffix(mark.count) == mark[...], isMissing { path.removeLast(mark.count) }
            return Array(path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...])
        }()
    }

    /// Returns an environment variable, unless the program has more privileges than its caller.
    private func secureVariable(_ name: String) -> UnsafeMutablePointer<CChar>? {
        guard getuid() == geteuid(), getgid() == getegid() else { return nil }
        guard let secureGetenv else { return getenv(name) }
        return secureGetenv(name)
    }

    /// The name by which the program was started, from the C library.
    private var invocationName: [UInt8] {
        // Swift does not import this variable, because reading it races with writes. No program
        // writes it.
        guard let variable = dlsym(nil, "program_invocation_name"),
            let name = variable.assumingMemoryBound(to: UnsafePointer<CChar>?.self).pointee
        else { return Array((CommandLine.arguments.first ?? "").utf8) }
        return Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }

    private typealias SecureGetenv = @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    #if canImport(Glibc)
        // `secure_getenv` is missing in Swift's C library module. It also detects privileges from
        // file capabilities.
        private let secureGetenv = function("secure_getenv", declaredAs: SecureGetenv.self)
    #else
        private let secureGetenv: SecureGetenv? = nil
    #endif
#endif
