import SettingsFile

#if canImport(Darwin) || canImport(AppleFoundation)
    // External changes. Key-value observing reports changes of each key, including those of other
    // processes. The keys that it cannot observe are read again whenever this process has changed
    // any `UserDefaults`. The suite compares what is read with what it knows.
    extension UserDefaultsBackend {
        /// How often each key is followed.
        struct Followed {
            var observable: [ByteString: Int] = [:]
            var others: [ByteString: Int] = [:]
        }

        @discardableResult
        package func watch(_ subject: WatchedSubject, _ handler: (@Sendable (BackendEvent) -> Void)?) -> Bool {
            if let handler { self.handler.attach(handler) }
            guard case .key(let key) = subject else { return true }
            let isObservable = UserDefaultsObserver.canObserve(key)
            if isObservable, handler != nil { UserDefaultsObserver.shared.observe(key, of: defaults) }
            let (keys, name) = (isObservable ? \Followed.observable : \.others, ByteString(key))
            followed.withLock { followed in
                let count = followed[keyPath: keys][name, default: 0] + (handler == nil ? -1 : 1)
                followed[keyPath: keys][name] = count == 0 ? nil : count
            }
            return true
        }

        /// Reports a change of a key, by this or other code.
        func receiveChange(of key: String) {
            let name = ByteString(key)
            guard followed.withLock({ $0.observable[name] != nil }) else { return }
            // The thread that calls `set` reports it after the call.
            guard !edits.withLock({ $0.noteChange(name) }) else { return }
            report(.changed(keys: [key]))
        }

        /// Reports that this process has changed a value of any `UserDefaults`.
        func receiveChange() {
            let keys = followed.withLock { $0.others.keys.map(\.string) }
            if !keys.isEmpty { report(.changed(keys: keys)) }
        }

        /// Reports that the app or the host of an extension comes to the foreground, or that the
        /// device has been unlocked. A suspended app receives nothing, and Apple does not say what
        /// it receives when it continues.
        func receiveReturn() {
            firstUnlock?.noteReturn()
            let isFollowing = followed.withLock { !$0.observable.isEmpty || !$0.others.isEmpty }
            if isFollowing { report(.changed(keys: nil)) }
        }
    }
#endif
