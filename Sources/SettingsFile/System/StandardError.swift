#if !canImport(Darwin) && !canImport(AppleFoundation)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #elseif canImport(Android)
        import Android
    #else
        #error("SettingsFile needs POSIX file descriptors")
    #endif

    /// Writes one line to standard error in one call, so that lines of several threads do not mix.
    package func writeToLog(_ kind: String, line: String) {
        let bytes = Array((line + "\n").utf8)
        // Nobody is left to be told when standard error itself is closed.
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
#endif
