extension DefaultsSuite {
    /// The program's own settings.
    public static let standard = DefaultsSuite(backend: MemoryBackend())
}
