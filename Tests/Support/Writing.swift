#if DEBUG
    package import Foundation
    // Release builds do not allow this, and have no tests.
    @testable package import SettingsFile
    @testable package import TypedDefaults

    extension DefaultsBackend {
        /// Commits edits over the newest generation.
        package func commit(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
            _ = try commit(edits, over: generation)
        }

        /// Commits edits in a write of their own.
        package func write(_ edits: [(key: String, value: PropertyList?)]) throws(DefaultsError) {
            try write { () throws(DefaultsError) in try commit(edits) }
        }

        /// Runs a body that may throw any error as one write.
        package func writing<Value>(_ body: () throws -> Value) throws -> Value {
            var result: Result<Value, any Error>?
            try write { result = Result { try body() } }
            return try result!.get()
        }
    }

    extension SettingsFileTests {
        /// Opens a file. Writers wait as long as a busy machine needs.
        package func open(_ file: URL, _ durability: DefaultsSuite.Durability = .process) -> DefaultsSuite {
            DefaultsSuite(backend: FileBackend(path: file.path, durability: durability, timeout: .seconds(60))).quiet
        }

        /// Opens the log of a file, as a process does.
        package func openLog(of file: URL) throws -> (log: Log, values: KeyTable) {
            let directory = try SettingsFileLocation.makeFolder(file.deletingLastPathComponent().path)
            let opened = try Log.opening(
                directory.file(file.lastPathComponent, .readWrite), named: file.lastPathComponent, in: directory,
                isWritable: true, sizeLimit: RecordFormat.sizeLimit)
            guard let opened else { throw CocoaError(.fileNoSuchFile) }
            return opened
        }
    }

    extension FileBackend {
        /// A backend with limits of the test's own.
        package convenience init(
            path: String, durability: DefaultsSuite.Durability = .process, timeout: Duration,
            sizeLimit: Int = RecordFormat.sizeLimit, flushDelay: Duration = .milliseconds(300)
        ) {
            self.init(
                SettingsFile(path: path, timeout: timeout, sizeLimit: sizeLimit), location: path,
                flushDelay: durability == .immediate ? .zero : flushDelay, writeTimeout: timeout)
        }

        /// Calls the closure soon after another process may have changed something, until this is
        /// called with `nil`.
        package func watch(_ onChange: (@Sendable () -> Void)?) {
            file.watch(onChange)
        }
    }
#endif
