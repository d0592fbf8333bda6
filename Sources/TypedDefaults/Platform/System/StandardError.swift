#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    #error("TypedDefaults needs POSIX file descriptors")
#endif

/// Writes one line to standard error in one call, so that lines of several threads do not mix.
func writeToStandardError(line: String) {
    let bytes = Array((line + "\n").utf8)
    // Nobody is left to be told when standard error itself is closed.
    _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
