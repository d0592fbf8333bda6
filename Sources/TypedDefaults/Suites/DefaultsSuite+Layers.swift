import SettingsFile

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension DefaultsSuite {
    /// Where a suite finds the value of a setting. See ``DefaultsSuite/layers``.
    public struct Layer: Sendable {
        fileprivate let layer: Layers.Layer

        /// The stored values.
        public static let stored = Layer(layer: .stored)

        /// Creates a layer, such as one of the values that an administrator or a server provides.
        ///
        /// ```swift
        /// suite.layers = [Layer("admin") { key in managed[key] }, .stored]
        /// ```
        ///
        /// The suite asks for each key once, when it is first used, and again when you set the
        /// suite's layers: after the source has changed, assign `suite.layers = suite.layers`. A
        /// string is converted to the type of the setting: `"7"` to a number, `"YES"` to a Boolean,
        /// JSON to a struct or a collection.
        ///
        /// - Parameters:
        ///   - name: The name of the layer, for ``UserDefault/source`` and for errors.
        ///   - value: Returns the value of a key; `nil` if the layer has none. Any thread may call
        ///     it. It must not read the settings of this suite.
        public init(_ name: String, value: @escaping @Sendable (_ key: String) -> PropertyList?) {
            layer = Layers.Layer(name: name, value: value)
        }

        fileprivate init(layer: Layers.Layer) { self.layer = layer }

        /// A layer of values by key, such as those of a property list in the bundle.
        ///
        /// Keys are compared by their UTF-8 bytes.
        public static func values(_ values: [String: PropertyList], name: String = "values") -> Layer {
            let values = Dictionary(values.map { (ByteString($0.key), $0.value) }) { first, _ in first }
            return Layer(name) { values[ByteString($0)] }
        }

        /// A layer of environment variables, which is called “environment”.
        ///
        /// The name of a variable is the prefix and then the key in capitals, with `_` for each
        /// character that is not an ASCII letter or digit. So with the prefix `APP_`,
        /// `APP_CAMERA_ZOOM` is the value of `camera/zoom`, and of `camera.zoom` and `camera_zoom`
        /// as well. A setting that is not a string reads the text as a number, a Boolean or JSON.
        ///
        /// - Parameters:
        ///   - prefix: The beginning of the names, including a `_`.
        ///   - variables: The variables, by default those of this process now.
        public static func environment(
            prefix: String, _ variables: [String: String] = ProcessInfo.processInfo.environment
        ) -> Layer {
            Layer("environment") { key in
                let name = key.unicodeScalars.map { scalar in
                    switch scalar {
                    case "a"..."z", "A"..."Z", "0"..."9": String(scalar).uppercased()
                    default: "_"
                    }
                }
                return variables[prefix + name.joined()].map(PropertyList.string)
            }
        }

        /// A layer of launch arguments such as `-volume 7`, as `UserDefaults` reads them, except
        /// that the whole text must be a number or a Boolean. It is called “arguments”.
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
            var values: [String: PropertyList] = [:]
            var rest = arguments[...]
            while let name = rest.popFirst(), let value = rest.first {
                guard name.isArgumentName, !value.isArgumentName else { continue }
                rest.removeFirst()
                let key = String(decoding: name.utf8.dropFirst(), as: UTF8.self)
                if !key.isEmpty { values[key] = PropertyList(argument: value) }
            }
            return .arguments(values)
        }

        /// The values of launch arguments that other code has read.
        package static func arguments(_ values: [String: PropertyList]) -> Layer {
            .values(values, name: "arguments")
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
    /// Reading and observing a setting finds the value of a layer before ``Layer/stored``.
    /// Everything that concerns stored values ignores it: ``UserDefault/isSet``, `update`,
    /// ``contents()``, ``keys()``, and the observers of a suite. So `update` never stores an
    /// argument, in contrast to `suite[.volume] += 1`, which reads and then sets. A value that you
    /// set is stored, and takes effect when the layer is removed. Observers do not receive it
    /// before then.
    ///
    /// A layer after ``Layer/stored`` provides defaults: its value counts while none is stored,
    /// ahead of the default of the declaration. An update of a setting or of the suite begins with
    /// it; a step of a migration, and contents from elsewhere, with the default of the declaration.
    ///
    /// A ``DefaultConfig`` is put together from the layers, property by property. Every other value
    /// comes from one layer, and so does a struct inside a config.
    ///
    /// You can set the layers at any time. Observers of a setting receive its new value if it
    /// differs. A value, or a property, that does not have the type of the setting, or breaks its
    /// rule, is ignored. The next layer counts, and ``onFailure`` receives one error with the name
    /// of the layer.
    ///
    /// The layers of a scope are those of the whole suite, so an argument names the full key, as in
    /// `-user-42/volume 7`. A suite that stands in for the standard suite has its own layers. See
    /// <doc:Layers>.
    ///
    /// - Precondition: ``Layer/stored`` occurs once.
    public var layers: [Layer] {
        get { currentCore.layers.all.map(Layer.init) }
        nonmutating set { currentCore.setLayers(Layers(newValue)) }
    }
}

extension DefaultsSuite.Layer: DiscreetlyDescribed {
    /// The name of the layer, without keys and values.
    var summary: String { "Layer(\(layer.name))" }
}

extension String {
    fileprivate var isArgumentName: Bool { utf8.first == UInt8(ascii: "-") }
}

extension Layers {
    convenience init(_ layers: [DefaultsSuite.Layer]) {
        precondition(
            layers.count { $0.layer.value == nil } == 1, "the layers of a suite must contain .stored exactly once")
        self.init(layers.map(\.layer))
    }
}
