#if canImport(SwiftUI)
    public import SwiftUI

    /// A preview modifier that keeps the standard suite in memory, so that a preview starts with
    /// the same settings each time and changes none of the app's.
    ///
    /// ```swift
    /// #Preview(traits: .modifier(IsolatedDefaults(["showsGrid": true]))) { GridSettings() }
    /// ```
    ///
    /// This includes all stores, wrappers and settings of ``DefaultsSuite/standard``, and the
    /// `defaultsSuite` of the environment. All previews of a process share one standard suite: the
    /// one of the preview that was shown last.
    // Not in TypedDefaultsTesting, because an app cannot link Swift Testing.
    @available(iOS 18.0, macOS 15.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    public struct IsolatedDefaults: PreviewModifier {
        private let suite = DefaultsSuite.inMemory()

        /// Creates a modifier with the values that the suite starts with.
        public init(_ contents: SuiteContents = [:]) {
            do { try suite.replaceContents(with: contents) } catch {
                preconditionFailure("the contents cannot be stored: \(error)")
            }
        }

        /// Returns the content with the suite in its environment.
        public func body(content: Content, context: Void) -> some View {
            DefaultsSuite.replaceStandard(with: suite)
            return content.environment(\.defaultsSuite, suite)
        }
    }
#endif
