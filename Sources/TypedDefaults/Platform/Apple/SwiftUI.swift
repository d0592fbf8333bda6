#if canImport(SwiftUI)
    import SettingsFile
    public import SwiftUI

    extension UserDefault {
        /// A binding to the value, for controls: `Toggle("Grid", isOn: $showsGrid.binding)`.
        ///
        /// This is a separate property because `$showsGrid` is the setting itself, and only SwiftUI
        /// can define a `Binding`. The Observation framework updates a view when a value that its
        /// `body` reads changes, whatever the source of the change. To bind a property of the
        /// value, write `$config.binding.savesToCameraRoll`; to animate the change,
        /// `$showsGrid.binding.animation()`.
        public var binding: Binding<Value> {
            // SwiftUI reads the whole value before it sets one property of it.
            let last = Locked<Value?>(nil)
            @Sendable func store(_ new: Value) {
                // A control may set again without a read.
                let old = last.withLock { exchange(&$0, with: new) } ?? value
                let edit = InPlaceEdit(value: new, before: try? setting.slot.encode(old))
                // Choosing what is read is an assignment.
                if !setting.apply(edit, or: key.defaultValue) { setting.assign(new, over: key.defaultValue) }
            }
            // Not by `Bindable`, because an assignment by key path reads the value once more.
            return Binding {
                let value = value
                last.withLock { $0 = value }
                return value
            } set: { new, transaction in
                // Any other transaction would take the place of that of `withAnimation`.
                guard transaction.animation != nil || transaction.disablesAnimations else { return store(new) }
                withTransaction(transaction) { store(new) }
            }
        }
    }

    extension DefaultsSuite {
        /// Returns a binding to the value of a key: `Toggle("Grid", isOn:
        /// suite.binding(.showsGrid))`. See ``UserDefault/binding``.
        public func binding<Value>(_ key: DefaultKey<Value>) -> Binding<Value> { UserDefault(key, in: self).binding }
    }

    /// A setting of a view, in the suite of the view's environment. Its `$` is a `Binding`.
    ///
    /// ```swift
    /// struct GridSettings: View {
    ///     @ViewSetting(.showsGrid) private var showsGrid
    ///     @ViewSetting private var camera: CameraConfig
    ///     var body: some View {
    ///         Toggle("Grid", isOn: $showsGrid)
    ///         Toggle("Save to Camera Roll", isOn: $camera.savesToCameraRoll)
    ///     }
    /// }
    ///
    /// // The view writes nothing to disk.
    /// #Preview { GridSettings().environment(\.defaultsSuite, .inMemory()) }
    /// ```
    ///
    /// The view updates when this process changes the value, and when a change by another process
    /// is noticed. Outside of views, use ``UserDefault``, whose `$` is the setting itself.
    ///
    /// Use the setting only in a `body` and in the actions of its controls. In the view's `init`,
    /// and in a test that uses a view which SwiftUI has not installed, there is no environment: the
    /// setting reads and writes ``DefaultsSuite/standard``, and SwiftUI logs a fault.
    @propertyWrapper
    public struct ViewSetting<Value: Sendable>: DynamicProperty {
        @Environment(\.defaultsSuite) private var suite
        private let key: DefaultKey<Value>

        /// Creates the setting of a key.
        public init(_ key: DefaultKey<Value>) { self.key = key }

        /// Creates the setting of a config struct, under the key of its type.
        public init() where Value: DefaultConfig { key = DefaultKey(Value.self) }

        /// The value, or the default of the key if no value is stored or if it cannot be read.
        ///
        /// If an assignment fails, the failure handler of the suite receives the error.
        public var wrappedValue: Value {
            get { suite[key] }
            nonmutating set { suite[key] = newValue }
            nonmutating _modify { yield &suite[key] }
        }

        /// The value for a control.
        public var projectedValue: Binding<Value> { suite.binding(key) }

        /// Where the value comes from, as in `_showsGrid.source`. See ``UserDefault/source``.
        public var source: DefaultSource { UserDefault(key, in: suite).source }

        /// Whether assigning does not change the value now, as in `_showsGrid.isManaged`. See
        /// ``UserDefault/isManaged``.
        public var isManaged: Bool { UserDefault(key, in: suite).isManaged }
    }

    extension EnvironmentValues {
        /// The suite of the views below: ``DefaultsSuite/standard``, unless you set another one.
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
        /// A ``ViewSetting`` is stored in this suite. To get a store in such a view, use
        /// `AnyStore.persistent(in: suite)`. This value does not affect properties that a view
        /// declares with ``UserDefault``, because they already have a suite. If a `body` may be
        /// evaluated again, keep the suite in a property, because each call to `.inMemory()`
        /// creates a new suite.
        public var defaultsSuite: DefaultsSuite {
            get { self[DefaultsSuiteKey.self] }
            set { self[DefaultsSuiteKey.self] = newValue }
        }
    }

    private struct DefaultsSuiteKey: EnvironmentKey {
        static var defaultValue: DefaultsSuite { .standard }
    }
#endif
