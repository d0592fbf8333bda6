#if os(iOS)
    import Darwin

    // Not run on Apple platforms.
    extension File {
        /// States from when on a file that was just made can be read: from the first unlock after a restart, whatever class the app has by
        /// default, so that a push or a widget finds its settings while the device is locked. Before that, opening it fails.
        func stateProtection() {
            // `FileProtectionType.completeUntilFirstUserAuthentication` by its number. What fails, as on the simulator, which protects
            // nothing, leaves the class that the folder gives.
            _ = fcntl(descriptor, F_SETPROTECTIONCLASS, 3)
        }
    }
#else
    extension File {
        /// Elsewhere a file has the class of its folder, or none.
        func stateProtection() {}
    }
#endif
