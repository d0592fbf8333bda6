// What the system does with views, as text. Tests/AppleCheck does not compile this file.

/// A view without a `body`.
@MainActor private protocol Drawn {
    var lines: [String] { get }
}

/// Returns the text that a view shows, line by line.
@MainActor public func draw(_ view: some View) -> [String] {
    if let drawn = view as? any Drawn { drawn.lines } else { draw(view.body) }
}

/// Returns the text that a preview shows, line by line.
@MainActor public func drawPreview<Modifier: PreviewModifier>(
    _ modifier: Modifier, _ view: some View
) -> [String] where Modifier.Context == Void {
    draw(modifier.body(content: PreviewModifierContent(view: view), context: ()))
}

extension PreviewModifierContent: Drawn { fileprivate var lines: [String] { draw(view) } }
extension _ViewModifier_Content: Drawn { fileprivate var lines: [String] { draw(view) } }
extension Text: Drawn { fileprivate var lines: [String] { [text] } }
extension Toggle: Drawn {
    fileprivate var lines: [String] { draw(label).map { "\($0): \(isOn.wrappedValue ? "on" : "off")" } }
}
extension TupleView: Drawn { fileprivate var lines: [String] { views.flatMap { draw($0) } } }
extension EnvironmentView: Drawn {
    fileprivate var lines: [String] {
        let outer = EnvironmentValues.current
        defer { EnvironmentValues.current = outer }
        change(&EnvironmentValues.current)
        return draw(content)
    }
}

/// The transaction of the change that is being made.
public func currentTransaction() -> Transaction { Transaction.current }
