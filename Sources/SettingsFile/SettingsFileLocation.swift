/// The folder and the name of a settings file. Which file the name refers to may change.
///
/// An empty path means that there is no location; every call then throws.
struct SettingsFileLocation {
    let path: String
    /// The folder and the name of the file. If the path is a symbolic link, those of its target.
    private(set) var folder: String
    private(set) var name: String
    let sizeLimit: Int
    /// How long to wait for other processes.
    let timeout: Duration

    init(path: String, sizeLimit: Int = RecordFormat.sizeLimit, timeout: Duration = .seconds(2)) {
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
    static func normalized(_ path: String) -> String {
        // Split the bytes, because a slash and a following combining mark form one character.
        var components: [Substring.UTF8View] = []
        for component in path.utf8.split(separator: UInt8(ascii: "/")) where !component.elementsEqual(".".utf8) {
            if component.elementsEqual("..".utf8) { _ = components.popLast() } else { components.append(component) }
        }
        return components.map { "/" + (String($0) ?? "") }.joined()
    }

    /// Returns why a file of that name cannot be a settings file, or `nil` if it can.
    static func problem(ofName name: String) -> String? {
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
    /// create it. Link, target and their folders must be under the control of this user alone.
    ///
    /// - Returns: The location of the file, and its open folder.
    func followingLinks(creating: Bool = false) throws(FileFailure) -> (Self, directory: File) {
        var location = self
        for _ in 0..<8 {
            let isTarget = location.folder != folder || location.name != name
            let directory: File
            do throws(FileFailure) {
                directory = try location.directory(creating: creating && !isTarget)
            } catch let error where error.isMissing && isTarget {
                throw FileFailure(
                    "it is a symbolic link into the folder \(location.folder), which does not exist", code: error.code)
            }
            let target = try directory.target(ofLink: location.name)
            if isTarget || target != nil {
                let status = try directory.status()
                // All users of a container share its volumes.
                let isVolume = try status.isWorldWritable ? directory.isMountRoot : false
                if !isVolume { try Self.check(status, of: location.folder) }
                if let status = try directory.existingStatus(of: location.name) {
                    try Self.check(status, of: "\(location.folder)/\(location.name)")
                }
            }
            guard let target else { return (location, directory) }
            let isAbsolute = target.utf8.first == UInt8(ascii: "/")
            (location.folder, location.name) = Self.split(isAbsolute ? target : "\(location.folder)/\(target)")
        }
        throw FileFailure("it leads through too many symbolic links; use the target's path")
    }

    private static func check(_ status: File.Status, of path: String) throws(FileFailure) {
        guard !status.isPrivate else { return }
        let problem =
            !status.isOfThisUser && !status.isOfRoot
            ? "belongs to another user;"
            : status.isOfThisUser && !status.isSticky
                ? "can be written by others; run chmod go-w on it, or" : "can be written by others;"
        throw FileFailure(
            "it is a symbolic link that another user could change, because \(path) \(problem) use the target's path")
    }

    private func directory(creating: Bool = false) throws(FileFailure) -> File {
        guard path.utf8.first == UInt8(ascii: "/"), !name.isEmpty else {
            throw FileFailure(
                path.isEmpty
                    ? "the program has no name, or neither XDG_CONFIG_HOME nor HOME is an absolute path in UTF-8"
                    : "its path is not absolute, or ends with a slash"
            )
        }
        if let problem = Self.problem(ofName: name) { throw FileFailure(problem) }
        guard !folder.utf8.contains(0) else { throw FileFailure("a path cannot contain a NUL byte") }
        let directory: File
        do throws(FileFailure) {
            directory = try creating ? Self.makeFolder(folder) : File.existingDirectory(folder)
        } catch { throw naming(ownerIn: error) }
        if try directory.status().isWorldWritable, try !directory.isMountRoot {
            throw FileFailure(
                "its folder is writable by all users, who could replace the file; use a subfolder, such as"
                    + " \(folder == "/" ? "" : folder)/settings, which is created for this user alone, or restrict the"
                    + " permissions")
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
            try checkOwner(of: parent, parentPath)
            // A power failure must not remove the name of the folder once a file in it has been
            // flushed.
            do throws(FileFailure) { try parent.makeDirectory(name) } catch {
                throw FileFailure("the folder \(path) cannot be created: \(error.reason)", code: error.code)
            }
            try parent.flushNames()
            do throws(FileFailure) { return try File.existingDirectory(path) } catch let error where error.isMissing {
                throw FileFailure("the folder \(path) is a symbolic link that leads nowhere", code: error.code)
            }
        }
    }

    /// Throws if a folder in which something is about to be created belongs to another user. A
    /// program that runs as root with the `HOME` of a user would otherwise lock this user out. Root
    /// itself cannot be locked out.
    private static func checkOwner(of directory: File, _ path: String) throws(FileFailure) {
        let status = try directory.status()
        guard !status.isOfThisUser, !status.isOfRoot else { return }
        throw FileFailure("it would be created in \(path), which \(status.ownership(of: path))")
    }

    /// Replaces the error that permission is denied by one that names the owner of the file, or of
    /// the first folder on its path that this process may not use.
    func naming(ownerIn error: FileFailure) -> FileFailure {
        guard error.isPermissionDenied else { return error }
        for (part, isFile) in Self.parents(of: folder).map({ ($0, false) }) + [(path, true)] {
            guard isFile || !File.isSearchable(part) else { continue }
            guard let status = try? File.status(ofPath: part), !status.isOfThisUser else { return error }
            let isShared = !isFile && part != folder
            return FileFailure(
                "\(isFile ? "it" : "the folder \(part)") \(status.ownership(of: part, isShared: isShared))",
                code: error.code)
        }
        return error
    }

    /// A folder and those above it, the highest first.
    private static func parents(of folder: String) -> [String] {
        folder == "/" ? ["/"] : parents(of: split(folder).folder) + [folder]
    }

    /// The first folder on the path that is a symbolic link which leads nowhere.
    var danglingLink: String? {
        guard let root = try? File.existingDirectory("/") else { return nil }
        return Self.parents(of: folder).first { part in
            File.isWritable(part) == nil && (try? root.existingStatus(of: part)) != nil
        }
    }

    /// Opens the file, or creates it and its folder if `creating` is true.
    ///
    /// - Returns: `nil` if the file does not exist and was not created.
    func open(creating: Bool) throws(FileFailure) -> FileLog? {
        let deadline = ContinuousClock.now + timeout
        while true {
            let (target, directory): (Self, File)
            do throws(FileFailure) {
                (target, directory) = try followingLinks(creating: creating)
            } catch let error where error.isMissing && !creating { return nil }
            var file: File?
            var isWritable = true
            do throws(FileFailure) {
                file = try directory.file(target.name, .readWrite)
            } catch let error where error.isPermissionDenied {
                do throws(FileFailure) {
                    (file, isWritable) = (try directory.file(target.name, .readOnly), false)
                } catch { throw naming(ownerIn: error) }
            } catch let error where error.isMissing {
                if creating { try Self.checkOwner(of: directory, target.folder) }
            }
            if let file {
                let status = try file.status()
                guard status.isOfThisUser || status.isOfRoot && status.isPrivate else {
                    throw FileFailure("it \(status.ownership(of: path))")
                }
                // A file that only root can write is read, but not written or repaired.
                isWritable = isWritable && status.isOfThisUser
            }
            do throws(FileFailure) {
                if let file,
                    let log = try FileLog.opening(
                        file, named: target.name, in: directory, isWritable: isWritable, sizeLimit: sizeLimit)
                {
                    return log
                }
                guard isWritable, creating else { return nil }
                // The file is missing or still empty.
                let new = try target.install(
                    RecordFormat.file(epoch: 0, []), in: directory, inPlaceOf: file?.identity())
                new.file.unlock()
                return new
            } catch let error where (error.isReplaced || error.isMissing) && ContinuousClock.now < deadline {
                // Another process was faster.
                SystemClock.sleep(microseconds: 200)
            } catch let error where error.isPermissionDenied && file == nil { return nil }
        }
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
    /// - Parameter log: The open file; `nil` if there is none.
    func nameHasMoved(from log: FileLog?) throws(FileFailure) -> Bool {
        guard let log else { return File.isWritable(path) != nil }
        do throws(FileFailure) {
            let entry = try log.directory.existingEntry(path, followsLinks: true)
            guard let entry, entry.identity == log.identity, entry.links == 1, entry.owner == log.owner else {
                return true
            }
            // An overlay file system copies a file when it is first written. Its identity stays,
            // but who has opened it for reading still has the old one.
            return try log.isWritable ? false : log.isCopied
        } catch { throw naming(ownerIn: error) }
    }

    /// Whether the path leads to no file because a link or a folder was removed or renamed, and not
    /// the file itself.
    func hasLostWay(to log: FileLog) throws(FileFailure) -> Bool {
        if try log.directory.identity(of: path, followsLinks: true) != nil { return false }
        if try log.directory.identity(of: log.name) == log.identity { return true }
        do throws(FileFailure) { _ = try followingLinks() } catch let error where error.isMissing { return true }
        return false
    }
}
