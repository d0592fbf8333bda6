import Foundation

/// Standard output, written when a command is done or has much to say, and standard error.
enum Output {
    /// Writes all of it to standard output; ends the process well if nobody reads on, as in `typed-defaults list Tour | head -1`.
    static func write(_ data: Data) throws(Failure) {
        do throws(SystemError) {
            try File.write(data, to: STDOUT_FILENO)
        } catch {
            if error.code == EPIPE { exit(Failure.Code.done.rawValue) }
            throw .unavailable("standard output: \(error)")
        }
    }

    static func print(_ line: String) throws(Failure) { try write(Data("\(line)\n".utf8)) }

    /// Writes one line to standard error.
    static func tell(_ message: String) {
        let line = message.replacing("\n", with: " ")
        // Nobody is left to be told when standard error itself is closed.
        try? File.write(Data("typed-defaults: \(line)\n".utf8), to: STDERR_FILENO)
    }
}

/// What a call of the system has failed with.
struct SystemError: Error, CustomStringConvertible {
    let code = errno
    var description: String { String(cString: strerror(code)) }
}

/// Files that the tool reads and writes itself: exports.
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

    /// Whether there is something under that name; true as well if that cannot be known.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    /// Writes a file that is there whole or not at all, for its owner's eyes only: settings are nobody else's business.
    static func write(_ data: Data, to path: String) throws(Failure) {
        do throws(SystemError) {
            var status = stat()
            // A pipe or a device takes what comes, and nothing takes its place.
            if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
                let descriptor = open(path, O_WRONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw SystemError() }
                defer { close(descriptor) }
                return try write(data, to: descriptor)
            }
            let target = URL(filePath: path).resolvingSymlinksInPath().path
            let temporary = "\(target).\(getpid()).new"
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

    /// Twice as much as a settings file can hold.
    private static let sizeLimit = 128 << 20

    /// The bytes of a file; of standard input for “-”. Reads no more than could be stored.
    static func read(_ path: String) throws(Failure) -> Data {
        var data = Data()
        do {
            let file = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            while data.count <= sizeLimit, let part = try file.read(upToCount: 1 << 20), !part.isEmpty { data += part }
        } catch {
            throw .unavailable("the file \(path) cannot be read")
        }
        guard data.count <= sizeLimit else {
            throw .unavailable("\(path) has more than \(sizeLimit >> 20) MiB, and a suite holds at most 64 MiB")
        }
        return data
    }
}

// Outside, where `write` is the system's.
private func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
