import SettingsFile

extension DefaultsSuite {
    /// Where a suite finds the value of a setting. See ``DefaultsSuite/layers``.
    public struct Layer: Sendable {
        /// The values of the layer by key; `nil` for the stored values.
        fileprivate let values: [ByteString: PropertyList]?

        /// The stored values.
        public static let stored = Layer(values: nil)

        /// The values of launch arguments such as `-volume 7`, as `UserDefaults` reads them.
        ///
        /// An argument that begins with `-` is the name of a key. The next argument is its value,
        /// unless that begins with `-` too. If a key occurs more than once, its last value is used.
        ///
        /// A value that begins with `{`, `(`, `"` or `<` is a property list in the old style, such
        /// as `'(1, 2)'`, or in XML, such as `'<integer>-7</integer>'`. Anything else is
        /// read as a string. That includes XML with a comment, except for the comments that
        /// `[String].defaults` of `TypedDefaultsTesting` writes. A setting of another
        /// type reads a string as a number or a Boolean (YES, true, 1, NO, false, 0, in any case).
        /// A real without a fraction is read as an integer, which a setting of type `Double` reads
        /// too.
        ///
        /// - Parameter arguments: The arguments, by default those of this process.
        public static func arguments(_ arguments: [String] = CommandLine.arguments) -> Layer {
            var values: [ByteString: PropertyList] = [:]
            var rest = arguments[...]
            while let name = rest.popFirst(), let value = rest.first {
                guard name.isArgumentName, !value.isArgumentName else { continue }
                rest.removeFirst()
                let key = String(decoding: name.utf8.dropFirst(), as: UTF8.self)
                if !key.isEmpty { values[ByteString(key)] = PropertyList(argument: value) }
            }
            return Layer(values: values)
        }

        /// The values of launch arguments that other code has read.
        package static func arguments(_ values: [String: PropertyList]) -> Layer {
            Layer(values: Dictionary(values.map { (ByteString($0.key), $0.value) }) { first, _ in first })
        }
    }

    /// Where this suite finds the value of a setting: the first layer that has one wins.
    ///
    /// ```swift
    /// DefaultsSuite.standard.layers = [.arguments(), .stored]
    /// ```
    ///
    /// A suite on `UserDefaults`, such as ``standard`` on Apple platforms, starts with the launch
    /// arguments that `UserDefaults` has read, above the stored values. Every other suite starts
    /// with ``Layer/stored`` alone.
    ///
    /// Reading and observing a setting finds the value of a layer above the stored ones. Everything
    /// that concerns stored values ignores it: ``UserDefault/isSet``, `update`, ``contents()``,
    /// ``keys()``, and the observers of a suite. So `update` never stores an argument, in contrast
    /// to `suite[.volume] += 1`, which reads and then sets. A value that you set is stored below
    /// the argument, and takes effect when the layer is removed. Observers do not receive it before
    /// then.
    ///
    /// You can set the layers at any time. Observers of a setting receive its new value if it
    /// differs. A value that does not have the type of the setting is ignored, and ``onFailure``
    /// receives the error once.
    ///
    /// The layers of a scope are those of the whole suite, so an argument names the full key, as in
    /// `-user-42/volume 7`. A suite that stands in for the standard suite has its own layers.
    ///
    /// - Precondition: ``Layer/stored`` is the last layer, and occurs once.
    public var layers: [Layer] {
        get { currentCore.layers.all }
        nonmutating set { currentCore.setLayers(Layers(newValue)) }
    }
}

extension DefaultsSuite.Layer: DiscreetlyDescribed {
    /// The kind of the layer and its number of keys, without keys and values.
    var summary: String { values.map { "Layer.arguments(\($0.count) keys)" } ?? "Layer.stored" }
}

extension String {
    fileprivate var isArgumentName: Bool { utf8.first == UInt8(ascii: "-") }
}

extension Layers {
    convenience init(_ layers: [DefaultsSuite.Layer]) {
        precondition(
            layers.firstIndex { $0.values == nil } == layers.count - 1 && !layers.isEmpty,
            "the layers of a suite end with .stored, which occurs once")
        self.init(layers.compactMap(\.values))
    }

    fileprivate var all: [DefaultsSuite.Layer] { values.map { DefaultsSuite.Layer(values: $0) } + [.stored] }
}
