#if canImport(Darwin) || canImport(AppleFoundation)
    import os

    private let logger = Logger(subsystem: "TypedDefaults", category: "failures")

    /// Writes to the unified log. Everything but the kind is private, because keys may contain
    /// personal information.
    package func writeToLog(_ kind: String, line: String) {
        logger.error("\(kind, privacy: .public): \(line, privacy: .private)")
    }
#endif
