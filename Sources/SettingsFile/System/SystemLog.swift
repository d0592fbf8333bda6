#if canImport(Darwin) || canImport(AppleFoundation)
    import os

    private let logger = Logger(subsystem: "TypedDefaults", category: "failures")

    /// Writes to the system's log. All but the kind of failure is private there: names of keys may tell of a person.
    package func writeToLog(_ kind: String, line: String) {
        logger.error("\(kind, privacy: .public): \(line, privacy: .private)")
    }
#endif
