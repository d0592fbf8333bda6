import SettingsFile

/// One declaration of a setting. It is an object, so that using the same declaration again costs
/// only a pointer comparison.
final class Declaration<Value: Sendable>: AnyDeclaration {
    let defaultBox: Box<Value>?
    /// The key outside of any scope.
    let name: String
    let conversion: Conversion<Value>
    /// The names that the key had before, newest first.
    let formerNames: [String]
    /// Where the key is declared; `nil` if that is not known.
    let site: DeclarationSite?

    /// - Parameter defaultBox: The default value; `nil` if the declaration has none.
    init(
        _ name: String, _ conversion: Conversion<Value>, default defaultBox: Box<Value>?,
        formerNames: [String] = [], site: DeclarationSite? = nil
    ) {
        self.name = name
        self.site = site
        self.conversion = conversion
        self.defaultBox = defaultBox
        self.formerNames = formerNames
    }

    var form: ConversionForm { conversion.form }

    var content: DeclarationContent {
        DeclarationContent(
            type: (Value.self as? any AnyOptional.Type)?.wrappedType ?? Value.self, form: form,
            defaultValue: encodedDefault, site: site)
    }

    private var encodedDefault: PropertyList?? {
        guard let defaultBox else { return .none }
        do throws(DefaultsError) {
            return .some(try conversion.encode(defaultBox.value))
        } catch {
            return .none
        }
    }
}

extension Declaration where Value: DefaultConvertible {
    /// The declaration of a type that names its own key.
    static var ofType: Declaration { Declaration(Value.key, .convertible, default: nil, formerNames: Value.formerKeys) }
}

/// The declaration of a type that derives the prefix of its keys from its name.
final class ClassDeclaration: AnyDeclaration {
    let content: DeclarationContent
    init(type: Any.Type) {
        let form = ConversionForm(type: ObjectIdentifier(type), kind: .codable)
        content = DeclarationContent(type: type, form: form, defaultValue: nil, site: nil)
    }
    var form: ConversionForm { content.form }
    var formerNames: [String] { [] }
    var site: DeclarationSite? { nil }
}

/// A ``Declaration`` of any type.
protocol AnyDeclaration: AnyObject, Sendable {
    var form: ConversionForm { get }
    var formerNames: [String] { get }
    var site: DeclarationSite? { get }
    /// Encodes the default.
    var content: DeclarationContent { get }
}

/// The content of a declaration.
struct DeclarationContent {
    /// The type of the value, or the wrapped type of an optional.
    let type: Any.Type
    let form: ConversionForm
    /// The default in its stored form. The inner `nil` is a default of `nil`. The outer `nil` means
    /// that there is no default or that it cannot be stored.
    let defaultValue: PropertyList??
    let site: DeclarationSite?

    var kind: ConversionKind { form.kind }

    /// Returns an error if a setting cannot have both declarations; `nil` if it can.
    func conflict(with other: DeclarationContent, key: String) -> DefaultsError? {
        guard type == other.type, kind == other.kind else {
            let isOfOneName = "\(type)" == "\(other.type)"
            let others = isOfOneName ? String(reflecting: other.type) : "\(other.type)"
            let way = type == other.type ? "in two forms" : "as \(others) as well"
            return DefaultsError(
                .conflict, key: key, type: isOfOneName ? String(reflecting: type) : "\(type)",
                reason: "the key is declared \(way)")
        }
        guard let mine = defaultValue, let others = other.defaultValue, !kind.areEqual(mine, others) else { return nil }
        // One declaration whose default is computed each time.
        if let site, let other = other.site, site.isOfProgram, site.isSame(as: other) { return nil }
        return DefaultsError(
            .conflict, key: key, type: "\(type)",
            reason: "the key is declared with different defaults, or with one that changes each time")
    }
}

/// The source line that declares a key.
struct DeclarationSite {
    let fileID: StaticString
    let line: UInt

    func isSame(as other: DeclarationSite) -> Bool {
        guard line == other.line else { return false }
        return fileID.withUTF8Buffer { one in
            other.fileID.withUTF8Buffer { $0.baseAddress == one.baseAddress || $0.elementsEqual(one) }
        }
    }

    /// False for lines of this library that create the keys of wrappers: they do not show where a
    /// wrapper is declared.
    var isOfProgram: Bool {
        let library: StaticString = #fileID
        return fileID.withUTF8Buffer { file in
            library.withUTF8Buffer { library in
                let slash = UInt8(ascii: "/")
                return !file.prefix { $0 != slash }.elementsEqual(library.prefix { $0 != slash })
            }
        }
    }
}
