/// The folder and the name of a settings file. Which file the name refers to may change.
///
/// An empty path means that there is no location; every call then throws.
package struct SettingsFileLocation {
    let path: String
    /// The folder and the name of the file. If the path is a symbolic link, those of its target.
    package private(set) var folder: String
    package private(set) var name: String
    let sizeLimit: Int
    /// How long to wait for other processes.
    let timeout: Duration

    package init(path: String, sizeLimit: Int = RecordFormat.sizeLimit, timeout: Duration = .seconds(2)) {
        (self.path, self.sizeLimit, self.timeout) = (path, sizeLimit, timeout)
        (folder, name) = Self.split(path)
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        // Search the bytes, because a slash and a following combining mark form one character.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return (
            slash == path.startIndex ? "/" : String(path[..<slash]), String(path.utf8[slash...].dropFirst()) ?? ""
        )
    }

    /// Returns a path without the components `.` and `..` and without empty ones. Does not follow
    /// links.
    package static func normalized(_ path: String) -> String {
        // Split the bytes, because a slash and a following combining mark form one character.
        var components: [Substring.UTF8View] = []
        for component in path.utf8.split(separator: UInt8(ascii: "/")) where !component.elementsEqual(".".utf8) {
            if component.elementsEqual("..".utf8) { _ = components.popLast() } else { components.append(component) }
        }
        return components.map { "/" + (String($0) ?? "") }.joined()
    }

    /// Returns why a file of that name cannot be a settings file, or `nil` if it can.
    package static func problem(ofName name: String) -> String? {
        if name.utf8.contains(0) { return "a file name cannot contain a NUL byte" }
        if name.utf8.first == UInt8(ascii: "."), name.utf8.suffix(4).elementsEqual(".new".utf8) {
            return "names of the form “.<name>.new” are used for temporary files"
        }
        if name.utf8.count > nameLimit - 5 { return "the name of a settings file is at most \(nameLimit - 5) bytes" }
        return nil
    }

    /// Whether no write can succeed: there is no location, or this process may not write the file
    /// or, if it is missing, the folder.
    var isReadOnly: Bool {
        var path = path
        while !path.isEmpty {
            if let isWritable = File.isWritable(path) { return !isWritable }
            let folder = Self.split(path).folder
            guard folder != path else { break }
            path = folder
        }
        return true
    }

    /// The number of bytes that a name may have on nearly every file system.
    static let nameLimit = 255

    /// Follows the path if it is a symbolic link, as programs that manage configuration files
    /// create it.
    ///
    /// - Returns: The location of the file, and its open folder.
    package func followingLinks(creating: Bool = false) throws(FileFailure) -> (Self, directory: File) {
        guard path.utf8.first == UInt8(ascii: "/"), !name.isEmpty else {
            throw FileFailure(
                path.isEmpty
                    ? "the program has no name, or neither XDG_CONFIG_HOME nor HOME is an absolute path in UTF-8"
                    : "its path is not absolute, or ends with a slash")
        }
        if let problem = Self.problem(ofName: name) { throw FileFailure(problem) }
        guard !folder.utf8.contains(0) else { throw FileFailure("a path cannot contain a NUL byte") }
        var location = self
        for step in 0..<8 {
            let directory = try location.directory(creating: creating && step == 0, isTarget: step > 0)
            guard let target = try directory.target(ofLink: location.name) else { return (location, directory) }
            // It could lead to another settings file of this user.
            let status = try directory.status(of: location.name)
            guard status.isOfThisUser || status.isOfRoot else { throw FileFailure("it is a link of another user") }
            let isAbsolute = target.utf8.first == UInt8(ascii: "/")
            (location.folder, location.name) = Self.split(isAbsolute ? target : "\(location.folder)/\(target)")
        }
        throw FileFailure("it leads through too many symbolic links; use the target's path")
    }

    /// The folder and the name after links.
    var place: Result<(folder: String, name: String), FileFailure> {
        Result { () throws(FileFailure) in
            let (target, _) = try followingLinks()
            return (target.folder, target.name)
        }
    }

    private func directory(creating: Bool, isTarget: Bool) throws(FileFailure) -> File {
        let directory: File
        do throws(FileFailure) {
            directory = try creating ? Self.makeFolder(folder) : File.existingDirectory(folder)
        } catch let error where isTarget && error.isMissing {
            // Not a missing file, which would be an empty suite: a volume may not be mounted.
            throw FileFailure("it is a symbolic link into the folder \(folder), which does not exist")
        }
        // All users of a container share its volumes.
        if try directory.status().isWorldWritable, try !directory.isMountRoot {
            throw FileFailure(
                "all users can write to its folder, and replace the file; use a subfolder, such as"
                    + " \(folder == "/" ? "" : folder)/settings, which is created for this user alone")
        }
        return directory
    }

    /// Opens a folder. Creates it and its parents if they are missing, for this user only.
    static func makeFolder(_ path: String) throws(FileFailure) -> File {
        do throws(FileFailure) {
            return try File.existingDirectory(path)
        } catch let error where error.isMissing {
            let (parentPath, name) = split(path)
            let parent = try makeFolder(parentPath)
            try checkOwner(of: parent)
            do throws(FileFailure) {
                try parent.makeDirectory(name)
                // A power failure must not remove the name of the folder once a file in it has been
                // flushed.
                try parent.flushNames()
                return try File.existingDirectory(path)
            } catch {
                throw FileFailure("the folder \(path) cannot be created: \(error.reason)", code: error.code)
            }
        }
    }

    /// Throws if a folder in which something is about to be created belongs to another user. A
    /// program that runs as root with the `HOME` of a user would otherwise lock this user out. Root
    /// itself cannot be locked out.
    private static func checkOwner(of directory: File) throws(FileFailure) {
        let status = try directory.status()
        guard status.isOfThisUser || status.isOfRoot else {
            throw FileFailure(
                "it would be created in a folder of the user \(status.owner); run the program as that user")
        }
    }

    /// Opens the file, or creates it and its folder if `creating` is true.
    ///
    /// - Returns: `nil` if the file does not exist and was not created.
    func open(creating: Bool) throws(FileFailure) -> (log: Log, values: KeyTable)? {
        let deadline = MonotonicTime.now + timeout
        while true {
            let (target, directory): (Self, File)
            do throws(FileFailure) {
                (target, directory) = try followingLinks(creating: creating)
            } catch let error where error.isMissing && !creating { return nil }
            do throws(FileFailure) {
                return try target.open(in: directory, creating: creating)
            } catch let error where error.isMissing && !creating {
                return nil
            } catch let error where (error.isReplaced || error.isMissing) && .now < deadline {
                // Another process was faster.
                SystemClock.sleep(microseconds: 200)
            }
        }
    }

    private static func isOfAnotherUser(_ status: File.Status) -> FileFailure {
        FileFailure(
            "it belongs to the user \(status.owner), or others can write it; run chown on it, or the program as that"
                + " user")
    }

    private func open(in directory: File, creating: Bool) throws(FileFailure) -> (log: Log, values: KeyTable)? {
        if creating, try directory.identity(of: name) == nil {
            try Self.checkOwner(of: directory)
            do throws(FileFailure) { _ = try directory.make(name, inFolder: folder) } catch {
                if error.isPermissionDenied { return nil }
                guard error.alreadyExists else { throw error }
            }
        }
        var file: File
        var isWritable = true
        do throws(FileFailure) {
            file = try directory.file(name, .readWrite)
        } catch let error where error.isPermissionDenied {
            do throws(FileFailure) { (file, isWritable) = (try directory.file(name, .readOnly), false) } catch {
                guard let status = try? directory.status(of: name), !status.isOfThisUser else { throw error }
                throw Self.isOfAnotherUser(status)
            }
        }
        let status = try file.status()
        guard status.isOfThisUser || status.isOfRoot && status.isPrivate else { throw Self.isOfAnotherUser(status) }
        // A file that only root can write is read, but not written or repaired.
        isWritable = isWritable && status.isOfThisUser
        func log() throws(FileFailure) -> (log: Log, values: KeyTable)? {
            try Log.opening(file, named: name, in: directory, isWritable: isWritable, sizeLimit: sizeLimit)
        }
        let opened = try log()
        guard opened == nil, isWritable, creating else { return opened }
        // The file is still empty. A process that dies here leaves it so. After a power failure, no
        // record is there without the header.
        guard try file.tryLock() else { throw FileFailure.isReplacedMeanwhile }
        defer { file.unlock() }
        if let opened = try log() { return opened }
        try file.write(RecordFormat.file(epoch: 0, []), at: 0)
        try file.flush()
        return try log()
    }

    /// Whether the file can be opened for writing now.
    var isWritable: Bool {
        guard let (target, directory) = try? followingLinks() else { return false }
        return (try? directory.file(target.name, .readWrite).status().isOfThisUser) == true
    }

    /// A look: returns whether the path leads to another file than the open one, or to none.
    /// Resolves the whole path, because a link, a mount or a folder above may have changed. Also
    /// returns `true` if the file itself has changed so that it must be checked again.
    ///
    /// - Parameter open: The open file; `nil` if there is none.
    func nameHasMoved(from open: OpenFile?) throws(FileFailure) -> Bool {
        guard let open else { return !File.isMissing(path) }
        guard let entry = try open.directory.existingEntry(path, followsLinks: true) else { return true }
        return entry.identity != open.identity || entry.links != 1 || entry.owner != open.owner
    }
}
