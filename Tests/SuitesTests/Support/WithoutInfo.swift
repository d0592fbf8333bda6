@testable import TypedDefaults

extension SuiteContents {
    /// The contents without the dates and reasons of copies, which differ from run to run.
    var withoutInfo: SuiteContents {
        var contents = self
        for key in keys where SetAside.isInfo(key) { contents[key] = nil }
        return contents
    }
}

extension [String: PropertyList] {
    /// The values without the dates and reasons of copies, which differ from run to run.
    var withoutInfo: [String: PropertyList] { filter { !SetAside.isInfo($0.key) } }
}
