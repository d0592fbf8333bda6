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

    /// Where programs keep their settings off Apple platforms, by the XDG Base Directory Specification, and under which name.
    package enum SettingsFolder {
        /// `$XDG_CONFIG_HOME`, else `~/.config`; `nil` if neither is an absolute path in UTF-8.
        ///
        /// A program that runs with more rights than its caller (setuid) does not follow the caller's variables: its home folder is the
        /// one that the user database has for its effective user.
        package static var path: String? {
            let folders = [(variable("XDG_CONFIG_HOME"), ""), (variable("HOME") ?? trustedHome, "/.config")]
            guard let (folder, suffix) = folders.first(where: { $0.0?.first == UInt8(ascii: "/") }), let folder,
                // Repaired, another folder would take its place without a word.
                let path = String(validating: folder, as: UTF8.self)
            else { return nil }
            return path + suffix
        }

        private static func variable(_ name: String) -> [UInt8]? { secureVariable(name).map { bytes(of: $0) } }

        private static func bytes(of string: UnsafePointer<CChar>) -> [UInt8] {
            Array(UnsafeRawBufferPointer(start: string, count: strlen(string)))
        }

        /// The home folder where `HOME` is set but not to be trusted.
        private static var trustedHome: [UInt8]? {
            guard getenv("HOME") != nil else { return nil }
            var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { room in
                guard getpwuid_r(geteuid(), &entry, room.baseAddress!, room.count, &found) == 0, found != nil,
                    let home = entry.pw_dir
                else { return nil }
                return bytes(of: home)
            }
        }

        /// The file name of the running executable, which a link or the name that it was started by does not change. Not always UTF-8.
        /// Without `/proc`, the name that it was started by; empty if that is unknown as well.
        package static let executableName: [UInt8] = {
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = buffer.withUnsafeMutableBytes {
                readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
            }
            var path = count > 0 ? Array(buffer[..<count]) : invocationName
            // What the system says of a program whose file was replaced while it runs.
            let mark = Array(" (deleted)".utf8)
            let isMissing = (path + [0]).withUnsafeBytes {
                access($0.baseAddress!.assumingMemoryBound(to: CChar.self), F_OK) != 0
            }
            if path.suffix(mark.count) == mark[...], isMissing { path.removeLast(mark.count) }
            return Array(path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...])
        }()
    }

    /// The variable, unless the program runs with more rights than its caller.
    private func secureVariable(_ name: String) -> UnsafeMutablePointer<CChar>? {
        guard getuid() == geteuid(), getgid() == getegid() else { return nil }
        guard let secureGetenv else { return getenv(name) }
        return secureGetenv(name)
    }

    /// What the C library knows of the name that the program was started by.
    private var invocationName: [UInt8] {
        // Swift does not import the variable: it is not safe to read while the program sets it, which none does.
        guard let variable = dlsym(nil, "program_invocation_name"),
            let name = variable.assumingMemoryBound(to: UnsafePointer<CChar>?.self).pointee
        else { return Array((CommandLine.arguments.first ?? "").utf8) }
        return Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }

    private typealias SecureGetenv = @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    #if canImport(Glibc)
        // Swift's module of the C library leaves it out. It sees rights that a program has from its file as well.
        private let secureGetenv = dlsym(nil, "secure_getenv").map { unsafeBitCast($0, to: SecureGetenv.self) }
    #else
        private let secureGetenv: SecureGetenv? = nil
    #endif
#endif
