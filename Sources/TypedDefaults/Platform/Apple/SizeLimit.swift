import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    /// Limits the size of a domain.
    final class SizeLimit: Sendable {
        /// The size from which the failure handler gets a warning.
        private let warning: Int
        /// The size from which writes are refused; `nil` for no limit.
        private let limit: Int?
        /// An upper bound for the stored size; `nil` before the first measurement.
        private let state = Locked<(estimate: Int?, hasWarned: Bool)>((nil, false))

        init(warning: Int, limit: Int?) {
            self.warning = warning
            self.limit = limit
        }

        /// Throws if the system would not accept the edits.
        ///
        /// - Returns: A warning for the failure handler, once.
        func check(
            _ edits: [(key: String, value: PropertyList?)], contents: () -> [String: Any]
        ) throws(DefaultsError) -> DefaultsError? {
            let written = edits.filter { $0.value != nil }
            guard let first = written.first else { return nil }
            let added = Self.size(of: Dictionary(written.map { ($0.key, $0.value!.object) }) { $1 })
            // The estimate does not subtract replaced values, so that the whole domain is measured
            // only when necessary.
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
                    reason: "the settings would take \(size) bytes; the system allows fewer than \(limit)")
            }
            let isFirstWarning = state.withLock { state in
                defer { state = (size, state.hasWarned || size >= warning) }
                return !state.hasWarned && size >= warning
            }
            guard isFirstWarning else { return nil }
            return DefaultsError(
                .nearlyFull, key: first.key,
                reason: "the settings take \(size) bytes; "
                    + (limit.map { "the system terminates a program at \($0)" }
                        ?? "the system logs an error at \(warning) bytes or more")
            )
        }

        /// Returns the size of the values; 0 if one is not a property list, which cannot be stored.
        private static func size(of object: [String: Any]) -> Int {
            (try? PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0))?.count ?? 0
        }
    }
#endif
