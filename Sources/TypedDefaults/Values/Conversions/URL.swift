#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Written as its absolute string; a URL with a base as a dictionary of the strings `relative` and
/// `base`. On Apple platforms also read from the archive that `UserDefaults.set(_:forKey:)` and
/// `@AppStorage` store. A file path is not a URL: "/tmp" is read as a relative reference, as in RFC
/// 3986.
extension URL: NativeValue {
    init?(_ stored: PropertyList) {
        switch stored {
        case .string(let text): self.init(string: text)
        case .dictionary(let parts):
            guard case .string(let relative)? = parts["relative"], case .string(let base)? = parts["base"],
                let base = URL(string: base)
            else { return nil }
            self.init(string: relative, relativeTo: base)
        case .data(let archive):
            guard let url = archivedURL(archive) else { return nil }
            self = url
        default: return nil
        }
    }

    init?(argument: String) { self.init(.string(argument)) }

    var propertyList: PropertyList {
        get throws(DefaultsError) {
            let written: PropertyList =
                if let baseURL {
                    .dictionary(["relative": .string(relativeString), "base": .string(baseURL.absoluteString)])
                } else {
                    .string(absoluteString)
                }
            guard URL(written) == self else {
                throw .refused(path: [], type: URL.self, "a URL made from this URL's string would be different")
            }
            return written
        }
    }
}
