#if canImport(Testing)
    import Testing
#endif
#if canImport(XCTest)
    import XCTest
#endif

/// The place in the code of a test to which a failure belongs.
struct CallSite: Sendable {
    var fileID: StaticString
    var filePath: StaticString
    var line: UInt
    var column: UInt
}

/// Records a failure in the test framework that runs the test.
// Without a current test, such as on another thread, the framework is unknown. Each of the two
// ignores a failure while only the other one runs.
func recordIssue(_ message: String, at site: CallSite? = nil) {
    #if canImport(Testing)
        let comment = Comment(rawValue: message)
        if let site {
            let location = SourceLocation(
                fileID: "\(site.fileID)", filePath: "\(site.filePath)", line: Int(site.line), column: Int(site.column))
            Issue.record(comment, sourceLocation: location)
        } else if let location = Test.current?.sourceLocation {
            Issue.record(comment, sourceLocation: location)
        } else {
            Issue.record(comment)
        }
        guard Test.current == nil else { return }
    #endif
    #if canImport(XCTest)
        if let site {
            XCTFail(message, file: site.filePath, line: site.line)
        } else {
            XCTFail(message)
        }
    #endif
}
