// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are those of the keys.

import AppleFoundation
import Testing

struct PrivacyManifestTests {
    private struct Manifest: Decodable {
        struct Access: Decodable {
            let NSPrivacyAccessedAPIType: String
            let NSPrivacyAccessedAPITypeReasons: [String]
        }
        let NSPrivacyTracking: Bool
        let NSPrivacyAccessedAPITypes: [Access]
    }

    // https://developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api
    @Test func theManifestDeclaresItsReasons() throws {
        let package = URL(filePath: #filePath).appending(path: "../../..").standardized
        let file = package.appending(path: "Sources/TypedDefaults/Platform/Apple/PrivacyInfo.xcprivacy")
        let manifest = try PropertyListDecoder().decode(Manifest.self, from: Data(contentsOf: file))
        let reasons = manifest.NSPrivacyAccessedAPITypes.map {
            ($0.NSPrivacyAccessedAPIType, $0.NSPrivacyAccessedAPITypeReasons)
        }
        #expect(!manifest.NSPrivacyTracking)
        #expect(
            Dictionary(uniqueKeysWithValues: reasons) == [
                // The reason of a library that gives apps access. Apps declare their own reasons.
                "NSPrivacyAccessedAPICategoryUserDefaults": ["C56D.1"],
                "NSPrivacyAccessedAPICategoryFileTimestamp": ["C617.1"],
            ])
    }
}
