#if !canImport(Darwin)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #elseif canImport(Android)
        import Android
    #else
        #error("TypedDefaults needs getenv and readlink")
    #endif

    /// Where programs keep their settings off Apple platforms, by the XDG Base Directory Specification, and under which name.
    enum SettingsFolder {
        /// `$XDG_CONFIG_HOME`, else `~/.config`; nil if neither is an absolute path.
        static var path: String? {
            func directory(_ variable: String) -> String? {
                guard let value = getenv(variable), value[0] == UInt8(ascii: "/") else { return nil }
                return String(cString: value)
            }
            return directory("XDG_CONFIG_HOME") ?? directory("HOME").map { $0 + "/.config" }
        }

        /// The file name of the running executable, which a link or the name that it was started by does not change.
        static let executableName: String = {
            var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = bytes.withUnsafeMutableBytes {
                readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
            }
            var path = count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : CommandLine.arguments.first ?? ""
            // What the system says of a program whose file was replaced while it runs.
            let mark = " (deleted)"
            if path.hasSuffix(mark), access(path, F_OK) != 0 { path.removeLast(mark.count) }
            return String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
        }()
    }
#endif
