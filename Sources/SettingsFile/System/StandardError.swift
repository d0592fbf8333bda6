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

    /// Writes one line to standard error with a single call, so that lines of different threads do
    /// not mix.
    package func writeToLog(_ kind: String, line: String) {
        let bytes = Array((line + "\n").utf8)
        // An error is ignored, because there is no other place to report it.
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
#endif
