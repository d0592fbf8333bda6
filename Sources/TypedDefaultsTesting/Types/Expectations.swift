public import TypedDefaults

/// Expects that a value reads back equal after it was stored.
///
/// ```swift
/// @Test func camerasAreStored() { expectRoundTrip(of: CameraConfig(size: .small)) }
/// ```
///
/// This finds a property that the type's `CodingKeys` leave out, and a hand-written conversion that
/// does not read what it writes. No store checks either.
public func expectRoundTrip<Value: DefaultConvertible & Equatable>(
    of value: Value,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
    expect(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
        try StoredForm.ofKeyedType.checkRoundTrip(of: value)
    }
}

/// Expects that a value reads back equal after it was stored.
@_disfavoredOverload
public func expectRoundTrip<Value: Codable & Equatable & Sendable>(
    of value: Value,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
    expect(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
        try StoredForm.ofCodable.checkRoundTrip(of: value)
    }
}

/// Expects that a value is stored in the form that a fixture holds, so that a release cannot change
/// the form by accident.
///
/// ```swift
/// @Test func theFormOfCamerasIsPinned() { expectStored(CameraConfig(), as: "camera-1.json") }
/// ```
///
/// A missing fixture is written, and the test fails once. Check it in, and keep the fixtures of
/// released versions for `expectReads`. If the environment variable `TYPED_DEFAULTS_RECORD` is 1,
/// fixtures that differ are written again.
///
/// The value is stored under the key of its type. The fixture is the name of a file in the folder
/// `Fixtures` beside the test, in the format of `SuiteContents.json()` and `typed-defaults export`.
public func expectStored<Value: DefaultConvertible & Equatable>(
    _ value: Value, as fixture: String,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
    expect(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
        try StoredForm.ofKeyedType.checkStored(value, as: Fixture(fixture, besides: filePath))
    }
}

/// Expects that a value is stored in the form that a fixture holds, there under the key “value”.
@_disfavoredOverload
public func expectStored<Value: Codable & Equatable & Sendable>(
    _ value: Value, as fixture: String,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
    expect(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
        try StoredForm.ofCodable.checkStored(value, as: Fixture(fixture, besides: filePath))
    }
}

/// Expects that a value stored by an earlier version reads as a given value.
///
/// ```swift
/// @Test func camerasOfVersion1AreRead() {
///     expectReads(fixture: "camera-1.json", as: CameraConfig.self, equals: CameraConfig(size: .small))
/// }
/// ```
///
/// The fixture is the name of a file in the folder `Fixtures` beside the test, in the format of
/// `SuiteContents.json()` and `typed-defaults export`. A whole export will do: the value is read
/// from the key of the type.
public func expectReads<Value: DefaultConvertible & Equatable>(
    fixture: String, as type: Value.Type, equals expected: Value,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
    expect(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
        try StoredForm.ofKeyedType.checkReads(Fixture(fixture, besides: filePath), equals: expected)
    }
}

/// Expects that a value stored by an earlier version under the key “value” reads as a given value.
@_disfavoredOverload
public func expectReads<Value: Codable & Equatable & Sendable>(
    fixture: String, as type: Value.Type, equals expected: Value,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
    expect(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
        try StoredForm.ofCodable.checkReads(Fixture(fixture, besides: filePath), equals: expected)
    }
}

private func expect(_ site: CallSite, _ check: () throws -> Void) {
    do { try check() } catch { recordIssue("\(error)", at: site) }
}
