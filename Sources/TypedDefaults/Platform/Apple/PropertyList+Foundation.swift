#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        import AppleFoundation
    #else
        import Foundation
    #endif

    // `UserDefaults` holds property list objects, under keys in composed form.
    extension PropertyList {
        /// Creates the value of a stored object.
        init(stored object: Any, forKey key: String) throws(DefaultsError) {
            do throws(DefaultsError) { self = try PropertyList(object) } catch {
                throw DefaultsError(
                    .unreadable, key: key, type: error.type, path: error.path,
                    reason: "the stored object is not a property list")
            }
        }

        /// Throws unless `UserDefaults` stores the edit exactly.
        ///
        /// A key must be in composed form. Swift considers the composed and decomposed forms of `é`
        /// equal, so a dictionary of the domain can hold only one of two such keys. A NaN must be
        /// `Double.nan`: `CFNumber` has a single NaN object, so a sign or payload is lost.
        static func check(_ edit: (key: String, value: PropertyList?)) throws(DefaultsError) {
            guard let value = edit.value else { return }
            guard edit.key.precomposedStringWithCanonicalMapping.utf8.elementsEqual(edit.key.utf8) else {
                throw DefaultsError(
                    .refused, key: edit.key,
                    reason: "UserDefaults lists keys in composed form (NFC) only; use that form")
            }
            guard let path = value.pathOfOtherNaN else { return }
            throw DefaultsError(
                .refused, key: edit.key, path: path,
                reason: "UserDefaults cannot store this NaN exactly: its sign and payload would be lost")
        }

        /// The path to a NaN that is not `Double.nan`; `nil` if there is none.
        private var pathOfOtherNaN: [String]? {
            switch self {
            case .double(let double): double.isNaN && double.bitPattern != Double.nan.bitPattern ? [] : nil
            case .array(let elements):
                elements.enumerated().lazy.compactMap { index, element in
                    element.pathOfOtherNaN.map { [String(index)] + $0 }
                }.first
            case .dictionary(let entries):
                entries.lazy.compactMap { key, element in element.pathOfOtherNaN.map { [key] + $0 } }.first
            default: nil
            }
        }
    }
#endif
