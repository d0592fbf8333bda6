import TypedDefaults

/// Returns the type of the elements of a list, and of the values of a dictionary or an optional.
func elementType(_ type: Any.Type) -> Any.Type {
    (type as? any Wrapper.Type).map { elementType($0.wrapped) } ?? type
}

/// Returns the form of a new instance of a config.
func newForm(_ type: Any.Type?) -> PropertyList? {
    (type as? any DefaultConfig.Type).flatMap { try? PropertyList($0.init().serialize()).withoutNil }
}

/// Returns the form of a new instance of a config, with fixed values for what differs in each one.
func fixedForm(_ type: Any.Type?) -> PropertyList? {
    func form<Config: DefaultConfig>(_ type: Config.Type) -> PropertyList? { DefaultKey(type).fixed }
    return (type as? any DefaultConfig.Type).flatMap { form($0) }
}

/// Returns the forms that the cases of an enum usually have.
func caseForms(_ type: Any.Type?) -> [PropertyList] {
    (type as? any CaseIterable.Type)?.allCases.map(caseForm) ?? []
}

private func caseForm(_ value: Any) -> PropertyList {
    (value as? any RawRepresentable).flatMap { try? PropertyList($0.rawValue) } ?? ["\(value)": [:]]
}

private protocol Wrapper { static var wrapped: Any.Type { get } }
extension Optional: Wrapper { static var wrapped: Any.Type { Wrapped.self } }
extension Array: Wrapper { static var wrapped: Any.Type { Element.self } }
extension Dictionary: Wrapper { static var wrapped: Any.Type { Value.self } }
extension Set: Wrapper { static var wrapped: Any.Type { Element.self } }
