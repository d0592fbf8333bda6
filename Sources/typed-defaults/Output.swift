import Foundation
import TypedDefaults

/// Writes to standard output and standard error.
enum Output {
    /// Writes all data to standard output. If the reader has closed it, as in `typed-defaults list
    /// Tour | head -1`, the process exits successfully.
    static func write(_ data: Data) throws(Failure) {
        do throws(SystemError) {
            try File.write(data, to: STDOUT_FILENO)
        } catch {
            if error.code == EPIPE { exit(Failure.Code.done.rawValue) }
            throw .unavailable("standard output: \(error)")
        }
    }

    static func print(_ line: String) throws(Failure) { try write(Data("\(line)\n".utf8)) }

    /// Writes one line to standard error. Truncates long names, which come from a file or an
    /// argument.
    static func printDiagnostic(_ message: String) {
        let line = message.replacing("\n", with: " ").replacing(/“([^”]{100})[^”]+”/) { "“\($0.1)…”" }.printable
        // A closed standard error cannot be reported.
        try? File.write(Data("typed-defaults: \(line)\n".utf8), to: STDERR_FILENO)
    }
}

/// The error of a system call.
struct SystemError: Error, CustomStringConvertible {
    let code = errno
    var description: String { String(cString: strerror(code)) }
}

/// Reads and writes exported files.
enum File {
    static func write(_ data: Data, to descriptor: Int32) throws(SystemError) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeOnce(descriptor, $0) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw SystemError() }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns whether a file exists at the path, or whether that cannot be determined.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    /// Returns whether both paths lead to the same file.
    static func areSame(_ path: String, _ other: String) -> Bool {
        var (status, otherStatus) = (stat(), stat())
        return stat(path, &status) == 0 && stat(other, &otherStatus) == 0
            && status.st_dev == otherStatus.st_dev && status.st_ino == otherStatus.st_ino
    }

    /// Returns the kind of a file, such as `S_IFREG`; `nil` if there is none.
    static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Writes a file atomically, readable by its owner only, because settings can be private.
    static func write(_ data: Data, to path: String) throws(Failure) {
        do throws(SystemError) {
            // A pipe or a device is written directly and not replaced.
            if let kind = kind(of: path), kind != S_IFREG {
                let descriptor = open(path, O_WRONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw SystemError() }
                defer { close(descriptor) }
                return try write(data, to: descriptor)
            }
            let target = URL(filePath: path).resolvingSymlinksInPath().path
            // Not the number of the process: in a container, each process may have the same one.
            let temporary = "\(target).\(String(UInt32.random(in: .min ... .max), radix: 16)).new"
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw SystemError() }
            defer { close(descriptor) }
            do throws(SystemError) {
                try write(data, to: descriptor)
                guard fsync(descriptor) == 0, rename(temporary, target) == 0 else { throw SystemError() }
            } catch {
                unlink(temporary)
                throw error
            }
        } catch {
            throw .unavailable("the file \(path) cannot be written: \(error)")
        }
    }

    /// Twice the limit of a settings file.
    private static let sizeLimit = 128 << 20

    /// Returns the bytes of a file, or of standard input for “-”. Throws if they are more than a
    /// suite can hold.
    static func read(_ path: String) throws(Failure) -> Data {
        var data = Data()
        do {
            let file = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            while data.count <= sizeLimit, let part = try file.read(upToCount: 1 << 20), !part.isEmpty { data += part }
        } catch {
            throw .unavailable("the file \(path) cannot be read")
        }
        guard data.count <= sizeLimit else {
            throw .unavailable("\(path) is larger than \(sizeLimit >> 20) MiB; a suite holds at most 64 MiB")
        }
        return data
    }
}

// Outside of `File`, where `write` is the system call.
private func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
