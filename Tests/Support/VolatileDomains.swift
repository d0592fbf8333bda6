package import Foundation

/// Held by tests that change the registered values or the launch arguments of `UserDefaults`, and
/// remove them again: on Apple platforms, these belong to the process.
package let volatileDomains = NSLock()
