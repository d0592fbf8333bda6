import Foundation
import Testing
import TypedDefaults

// The article *Recipes* shows how to use these declarations.

struct AdminAPI {
    /// The faults of values that were sent: 400.
    struct Refused: Error { let faults: [DefaultsError] }
    /// The settings have changed since they were read: 412.
    struct Outdated: Error {}

    let suite: DefaultsSuite
    /// Returns what is wrong with contents, such as
    /// `$0.faults(.quality, DefaultKey(Limits.self))`.
    let faults: @Sendable (SuiteContents) -> [DefaultsError]

    /// GET: all settings that are stored.
    func read() throws -> Data { try suite.contents().json() }

    /// PATCH: stores values in place of those with the same keys, all or none.
    ///
    /// - Parameter current: What `read()` has returned.
    func change(_ json: Data, from current: Data) throws {
        let changes = try SuiteContents(json: json)
        try suite.update { contents in
            guard contents.json() == current else { throw Outdated() }
            try contents.merge(changes)
            let faults = faults(contents)
            guard faults.isEmpty else { throw Refused(faults: faults) }
        }
    }
}

private struct Limits: DefaultConfig {
    static let key = "Limits"
    static let rules: [DefaultRule<Limits>] = [.on(\.requests, .in(1...1_000))]
    var requests = 100
    var isStrict = false
}

struct AdminRecipeTests {
    private let suite = DefaultsSuite.inMemory()
    private var api: AdminAPI { AdminAPI(suite: suite) { $0.faults(DefaultKey(Limits.self)) } }

    private func change(_ json: String) throws { try api.change(Data(json.utf8), from: api.read()) }

    @Test func valuesThatTheProgramCanReadAreStored() throws {
        try change(#"{"Limits": {"requests": 7}}"#)
        #expect(PersistentStore<Limits>(in: suite).value.requests == 7)
    }

    @Test(arguments: [
        #"{"Limits": {"requests": 0}}"#, #"{"Limits": {"requests": "many"}}"#, #"{"Limits": {"request": 1}}"#,
        #"{"Limits": 1}"#,
    ]) func aFaultRefusesAll(json: String) throws {
        try change(#"{"Limits": {"isStrict": true}, "other": 1}"#)
        let before = try suite.contents()
        let error = #expect(throws: AdminAPI.Refused.self) { try change(String(json.dropLast()) + #", "other": 2}"#) }
        #expect(error?.faults.isEmpty == false)
        #expect(try suite.contents() == before)
    }

    @Test func aChangeOfOutdatedSettingsIsRefused() throws {
        let read = try api.read()
        try change(#"{"Limits": {"requests": 7}}"#)
        let other = Data(#"{"Limits": {"requests": 8}}"#.utf8)
        #expect(throws: AdminAPI.Outdated.self) { try api.change(other, from: read) }
        #expect(PersistentStore<Limits>(in: suite).value.requests == 7)
    }
}
