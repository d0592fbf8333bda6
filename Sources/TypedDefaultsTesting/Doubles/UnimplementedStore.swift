public import TypedDefaults

/// A store that a test does not expect to be used. Each call records a failure at the location
/// where the store was created.
///
/// ```swift
/// let model = ExportModel(pictures: .inMemory(), account: AnyStore(UnimplementedStore()))
/// model.exportPictures()  // fails if it touches the account
/// ```
public struct UnimplementedStore<Default: Sendable>: DefaultStoreType {
    private let site: CallSite

    /// Creates a store.
    public init(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) {
        site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    }

    private func record(_ name: String) {
        recordIssue("\(name) of a store of \(Default.self) was called, but the test expects no use of it", at: site)
    }

    /// Records a failure and returns `nil`.
    public func get() -> Default? {
        record("get()")
        return nil
    }

    /// Records a failure.
    public func set(_ value: Default) { record("set(_:)") }

    /// Records a failure.
    public func remove() { record("remove()") }

    /// Records a failure.
    public func removeStored() throws { record("removeStored()") }

    /// Records a failure and returns `nil`.
    public func load() throws -> Default? {
        record("load()")
        return nil
    }

    /// Records a failure.
    public func save(_ value: Default) throws { record("save(_:)") }

    /// Records a failure, and runs the body with `nil`.
    @discardableResult
    public func updateStored<Result>(_ body: (inout Default?) throws -> Result) throws -> Result {
        record("updateStored(_:)")
        var value: Default?
        return try body(&value)
    }

    /// Records a failure. The handler is not called.
    public func observe(
        initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Default>) -> Void
    ) -> ObservationToken {
        record("observe(initial:_:)")
        return ObservationToken {}
    }
}
