import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// How much of a domain the system takes.
    final class SizeLimit: Sendable {
        /// Beyond this the failure handler is told.
        private let warning: Int
        /// Beyond this nothing more is written; nil for no such limit.
        private let limit: Int?
        /// At least what is stored; nil before the first look.
        private let state = Locked<(estimate: Int?, hasWarned: Bool)>((nil, false))

        init(warning: Int, limit: Int?) {
            self.warning = warning
            self.limit = limit
        }

        /// Throws if the system would not take the edits.
        ///
        /// - Returns: What to tell the failure handler of.
        func check(
            _ edits: [(key: String, value: PropertyList?)], contents: () -> [String: Any]
        ) throws(DefaultsError) -> DefaultsError? {
            let written = edits.filter { $0.value != nil }
            guard let first = written.first else { return nil }
            let added = Self.size(of: Dictionary(written.map { ($0.key, $0.value!.object) }) { $1 })
            // What was replaced is not taken off, so that all is measured only when it may matter.
            let estimate = state.withLock { $0.estimate }.map { $0 + added }
            if let estimate, estimate < warning {
                state.withLock { $0.estimate = estimate }
                return nil
            }
            var contents = contents()
            for edit in edits { contents[edit.key] = edit.value?.object }
            let size = Self.size(of: contents)
            if let limit, size >= limit {
                throw DefaultsError(
                    .refused, key: first.key,
                    reason: "the settings would be \(size) bytes, and the system takes \(limit)")
            }
            let isNews = state.withLock { state in
                defer { state = (size, state.hasWarned || size >= warning) }
                return !state.hasWarned && size >= warning
            }
            guard isNews else { return nil }
            return DefaultsError(
                .nearlyFull, key: first.key,
                reason: "the settings are \(size) bytes, and "
                    + (limit.map { "the system ends a program at \($0)" } ?? "the system takes \(warning) for a mistake")
            )
        }

        private static func size(of contents: [String: Any]) -> Int {
            // What is no property list cannot be stored either.
            (try? PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0))?.count ?? 0
        }
    }
#endif
