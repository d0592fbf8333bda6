#if canImport(Darwin) || canImport(AppleFoundation)
    #if canImport(AppleFoundation)
        public import AppleFoundation
    #else
        public import Foundation
    #endif

    /// Written as data: an archive by `NSKeyedArchiver` with secure coding. Also read from an
    /// archive without secure coding. The root object must be of the class or a subclass.
    extension Conversion where Value: NSObject & NSSecureCoding {
        static var archive: Conversion {
            Conversion(
                kind: .archive,
                store: { value throws(DefaultsError) in
                    guard
                        let archive = try? NSKeyedArchiver.archivedData(
                            withRootObject: value, requiringSecureCoding: true)
                    else { throw .refused(path: [], type: Value.self, "the object cannot be archived securely") }
                    return .data(archive)
                },
                decodeBox: Box.decoding { stored, _ throws(DefaultsError) in
                    // The text of the error may contain parts of the archive.
                    guard case .data(let archive) = stored,
                        let value = try? NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: archive)
                    else {
                        throw DefaultsError(
                            .unreadable, type: "\(Value.self)",
                            reason:
                                "the stored value is not an archive of this class, or has a class that is not allowed")
                    }
                    return value
                })
        }
    }

    extension DefaultKey {
        /// How an object with secure coding is stored.
        public enum ObjectForm: Sendable {
            /// As an archive by `NSKeyedArchiver`, in data.
            case archive
        }
    }

    extension DefaultKey {
        /// Creates a key for an object that is stored as an archive, such as a `UIColor` or an
        /// `NSColor`.
        ///
        /// ```swift
        /// nonisolated extension DefaultKey<UIColor> {
        ///     static let tint = DefaultKey("tint", default: .systemBlue, form: .archive)
        /// }
        /// ```
        ///
        /// The object is archived and unarchived with secure coding. A keyed archive that other
        /// code has stored is read as well, such as the package *Defaults*. An archive of another
        /// class, or one with a class that the object does not allow, counts as unreadable.
        ///
        /// Each read creates a new object. Changing it stores nothing, unless an update or an
        /// assignment ends with it. A value counts as changed if its archive differs.
        public init(_ name: String, default value: Value, form: ObjectForm) where Value: NSObject & NSSecureCoding {
            self.init(name, value, .archive)
        }

        /// Creates a key for an optional object that is stored as an archive.
        public init<Wrapped: NSObject & NSSecureCoding>(_ name: String, default value: Value = nil, form: ObjectForm)
        where Value == Wrapped? {
            self.init(name, value, Conversion<Wrapped>.archive.optional)
        }
    }

    extension UserDefault {
        /// Creates the setting for a property that is stored as an archive; its initial value is
        /// the default: `@UserDefault("tint", form: .archive) var tint = UIColor.systemBlue`.
        public init(
            wrappedValue: Value, _ name: String, form: DefaultKey<Value>.ObjectForm, in suite: DefaultsSuite = .standard
        ) where Value: NSObject & NSSecureCoding {
            self.init(DefaultKey(name, default: wrappedValue, form: form), in: suite)
        }

        /// Creates the setting for an optional property that is stored as an archive; the default
        /// is `nil` without an initial value.
        public init<Wrapped: NSObject & NSSecureCoding>(
            wrappedValue: Value = nil, _ name: String, form: DefaultKey<Value>.ObjectForm,
            in suite: DefaultsSuite = .standard
        ) where Value == Wrapped? {
            self.init(DefaultKey(name, default: wrappedValue, form: form), in: suite)
        }
    }
#endif
