import Foundation

/// Returns whether the block of an article that contains a text is code of a file, so that the
/// tests of that file run what the article shows. The file may indent it otherwise.
package func article(_ name: String, shows text: String, of file: String = #filePath) throws -> Bool {
    func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n").map { line in line.drop { $0 == " " } }
    }
    let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let page = root.appending(path: "Sources/TypedDefaults/TypedDefaults.docc/\(name).md")
    let blocks = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
        .compactMap { $0.components(separatedBy: "```").first }
    let code = lines(try String(contentsOfFile: file, encoding: .utf8))
    guard let block = blocks.first(where: { $0.contains(text) }).map(lines) else { return false }
    return code.indices.contains { code[$0...].starts(with: block) }
}
