#if canImport(SwiftUI)
    public import SwiftUI

    extension UserDefault {
        /// The value for a control: `Toggle("Grid", isOn: $showsGrid.binding)`.
        ///
        /// A property, since `$showsGrid` itself is the setting, and no type outside of SwiftUI can be a `Binding`. The view whose
        /// `body` reads it is drawn anew when the value changes, by whomever, and only then: the Observation framework sees to that.
        /// A part is bound as of any other binding: `$config.binding.savesToCameraRoll`.
        public var binding: Binding<Value> {
            Binding {
                value
            } set: {
                value = $0
            }
        }
    }

    extension DefaultsSuite {
        /// The value of a key for a control: `Toggle("Grid", isOn: suite.binding(.showsGrid))`. See ``UserDefault/binding``.
        public func binding<Value>(_ key: DefaultKey<Value>) -> Binding<Value> { UserDefault(key, in: self).binding }
    }

    extension EnvironmentValues {
        /// Where the views below have their settings: ``DefaultsSuite/standard``, unless something else is set.
        ///
        /// ```swift
        /// struct GridSettings: View {
        ///     @Environment(\.defaultsSuite) private var suite
        ///     var body: some View {
        ///         Toggle("Grid", isOn: suite.binding(.showsGrid))
        ///         Text("Quality \(suite[.quality])")
        ///     }
        /// }
        ///
        /// #Preview { GridSettings().environment(\.defaultsSuite, .inMemory()) }
        /// ```
        ///
        /// A store of such a view is `AnyStore.persistent(in: suite)`. What a view declares with ``UserDefault`` has its suite already, and
        /// is not moved. In a `body` that is evaluated again, hold the suite in a property: each `.inMemory()` is a new one.
        public var defaultsSuite: DefaultsSuite {
            get { self[DefaultsSuiteKey.self] }
            set { self[DefaultsSuiteKey.self] = newValue }
        }
    }

    private struct DefaultsSuiteKey: EnvironmentKey {
        static var defaultValue: DefaultsSuite { .standard }
    }
#endif
