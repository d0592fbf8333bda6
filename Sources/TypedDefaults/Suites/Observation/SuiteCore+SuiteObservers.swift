import SettingsFile

// Observers of the suite as a whole.
extension SuiteCore {
    func observe(_ observer: SuiteObserver) -> ObservationToken {
        var stored: [(key: String, value: PropertyList?)] = []
        do throws(DefaultsError) {
            let keys = observer.isForDeclaredKeys ? declaredKeys : withSuccessors(try backend.keys())
            stored = try values(of: keys.filter { observer.isAbout($0, isDeclared: true) })
        } catch {
            report(error)
        }
        var keys = stored.map(\.key)
        keys += formerKeys(of: keys)
        withObservers { $0.add(observer, stored) }
        for key in keys { backend.follow(key, true) }
        switchWatch()
        // Check again, because the suite may have changed before the observer was added.
        processExternalChanges()
        withObservers { _ in observer.state.isPending = false }
        deliver()
        return ObservationToken { [self, keys] in
            withObservers { $0.remove(observer) }
            for key in keys { backend.follow(key, false) }
            switchWatch()
        }
    }

    /// Records the present value of a newly declared key for observers of declared keys.
    func noteDeclaration(of key: String) {
        guard withObservers({ $0.hasSuiteObservers }) else { return }
        // If the value cannot be read now, observers receive a change when it can.
        guard let (stored, isUnderFormerKey) = try? storedValue(of: key) else { return }
        withObservers { $0.noteDeclaration(of: key, stored?.tree, isUnderFormerKey: isUnderFormerKey) }
    }

    /// Appends events for external changes, inside a write.
    func enqueueExternalSuiteChanges() {
        guard let stale = withObservers({ $0.takeStaleKeys() }) else { return }
        do throws(DefaultsError) {
            let declared = declaredKeys
            var keys = stale.map(withSuccessors)
            if keys == nil {
                let known = withObservers { $0.knownKeys }.map(\.string)
                keys = known + declared + withSuccessors(try backend.keys())
            }
            let stored = try values(of: keys ?? [])
            withObservers {
                $0.enqueue(
                    stored, declared: Set(declared.map(ByteString.init)), origin: .external,
                    depth: NotificationDepth.current + 1)
            }
        } catch {
            // Mark them again. A read of the setting reports the error.
            withObservers { $0.markStale(stale) }
        }
    }

    private static let unreadableValue: PropertyList = ["TypedDefaults.unreadable": true]

    /// Returns the stored values of keys, each key once, as of one moment if the backend has
    /// generations.
    private func values(of keys: [String]) throws(DefaultsError) -> [(key: String, value: PropertyList?)] {
        let keys = Set(keys.map(ByteString.init)).map(\.string)
        // The limit ends the loop if other processes keep writing.
        for _ in 0..<100 {
            let generation = backend.generation
            var values: [(key: String, value: PropertyList?)] = []
            for key in keys {
                do throws(DefaultsError) { values.append((key, try storedValue(of: key).value?.tree)) } catch {
                    // A value that the backend itself cannot read is only compared, so a
                    // placeholder is enough.
                    guard error.kind == .unreadable else { throw error }
                    values.append((key, Self.unreadableValue))
                }
            }
            if backend.generation == generation { return values }
        }
        throw DefaultsError(.unavailable, reason: "the suite kept changing while it was being read")
    }
}
