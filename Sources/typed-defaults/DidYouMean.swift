/// Returns “; did you mean …?” with the candidates that are closest to a word, or an empty text if
/// all are more than two edits away.
func didYouMean(_ word: String, in candidates: some Sequence<String>) -> String {
    // Long texts are not typing errors, and the distance takes time that grows with their product.
    let near = candidates.filter { abs($0.count - word.count) <= 2 && $0.count <= 200 }
        .map { (candidate: $0, distance: distance(Array(word), Array($0))) }
        .filter { $0.distance <= min(2, word.count - 1) }
    guard let least = near.map(\.distance).min() else { return "" }
    let names = near.filter { $0.distance == least }.map { "“\($0.candidate)”" }.sorted()
    return "; did you mean \(names.prefix(3).joined(separator: " or "))?"
}

/// Returns how many characters must be added, removed or replaced to get the other word.
private func distance(_ word: [Character], _ other: [Character]) -> Int {
    var distances = Array(0...other.count)
    for (row, character) in word.enumerated() {
        var diagonal = distances[0]
        distances[0] = row + 1
        for (column, otherCharacter) in other.enumerated() {
            let replaced = diagonal + (character == otherCharacter ? 0 : 1)
            diagonal = distances[column + 1]
            distances[column + 1] = min(replaced, diagonal + 1, distances[column] + 1)
        }
    }
    return distances.last ?? 0
}
