import Foundation
import TypedDefaults

/// Every backend of this build: a law that is checked on all of them is checked on the next one too.
enum Backend: String, CaseIterable, Sendable {
    case memory
    #if canImport(Darwin) || UserDefaults
        case userDefaults
    #endif

    /// A new suite on this backend, emptied when `body` returns.
    func withSuite<Result>(_ body: (DefaultsSuite) throws -> Result) throws -> Result {
        let suite = try makeSuite()
        defer { suite.clear() }
        return try body(suite)
    }

    private func makeSuite() throws -> DefaultsSuite {
        switch self {
        case .memory: .inMemory()
        #if canImport(Darwin) || UserDefaults
            case .userDefaults: try DefaultsSuite(name: makeSuiteName())
        #endif
        }
    }

    /// Whether the backend takes the value; where it refuses one, the table in the documentation says so.
    func accepts(_ value: PropertyList, key: String = "") -> Bool {
        switch self {
        case .memory: return true
        #if canImport(Darwin)
            case .userDefaults: return true
        #elseif UserDefaults
            case .userDefaults:
                return key.precomposedStringWithCanonicalMapping.utf8.elementsEqual(key.utf8)
                    && isKeptByFoundation(value)
        #endif
        }
    }
}

#if UserDefaults
    /// The table of refusals, written down a second time and in another way: by what an XML property list gives back.
    private func isKeptByFoundation(_ value: PropertyList) -> Bool {
        guard
            let data = try? PropertyListSerialization.data(
                fromPropertyList: ["": value.object], format: .xml, options: 0),
            let root = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let object = root[""]
        else { return false }
        return (try? PropertyList(object)) == value
    }
#endif

extension DefaultsSuite {
    fileprivate func clear() {
        onFailure = { _ in }
        removeAll()
        // A test that made the place unavailable leaves nothing to clear.
        try? synchronize()
    }
}

/// A name that no other test and no program of the user's has. Foundation looks for its folder once, before any test runs, so
/// the file is in the user's own; it goes when its last key does.
func makeSuiteName() -> String { "TypedDefaultsTests-\(UUID().uuidString)" }
