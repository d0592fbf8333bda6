#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList {
    /// Creates the value of a launch argument, as Foundation's argument domain reads it: a property
    /// list in XML or in the old style if the text is one, and otherwise a string without the white
    /// space around it.
    ///
    /// Foundation's decoder returns the integer 2 for the real 2.0, and no date with a fraction of
    /// a second. `[String].defaults { }` therefore writes such a value twice: as exact JSON in an
    /// XML comment, which is read here, and as XML after it, which all other readers read.
    package init(argument text: String) {
        let scalars = text.unicodeScalars
        let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.endIndex
        let end = scalars[start...].lastIndex { !$0.properties.isWhitespace }.map(scalars.index(after:)) ?? start
        let trimmed = String(scalars[start..<end])
        let value = Self.exact(inCommentOf: Data(trimmed.utf8)) ?? ForeignData.propertyList(in: trimmed)
        self =
            if let value, !value.isNested(deeperThan: Self.depthLimit) { value } else { .string(trimmed) }
    }

    private static func exact(inCommentOf xml: Data) -> PropertyList? {
        guard xml.starts(with: "<!--".utf8), let end = xml.firstRange(of: Data("-->".utf8)) else { return nil }
        return try? PropertyList(json: xml[4..<end.lowerBound])
    }
}
