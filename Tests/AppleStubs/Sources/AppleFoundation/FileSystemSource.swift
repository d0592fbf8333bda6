// swift-format-ignore-file: AlwaysUseLowerCamelCase, because the names are Apple's.

/// Opens a file for its events only:
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/open.2.html
public let O_EVTONLY = O_RDONLY

/// https://developer.apple.com/documentation/dispatch/dispatchsourcefilesystemobject
///
/// The real protocol refines `DispatchSourceProtocol`. On Linux, an extension of that protocol
/// assumes that every source is one of Dispatch's own.
public protocol DispatchSourceFileSystemObject: AnyObject, Sendable {
    var data: DispatchSource.FileSystemEvent { get }
    func setRegistrationHandler(handler: (@Sendable () -> Void)?)
    func setEventHandler(handler: (@Sendable () -> Void)?)
    func setCancelHandler(handler: (@Sendable () -> Void)?)
    func resume()
    func cancel()
}

extension DispatchSource {
    /// Reports events of an open file independently of its name. For a folder, reports changes of
    /// its entries.
    ///
    /// https://developer.apple.com/documentation/dispatch/dispatchsource/makefilesystemobjectsource(filedescriptor:eventmask:queue:)
    /// and `EVFILT_VNODE` in
    /// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/kqueue.2.html
    public class func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject {
        FileSystemSource(fileDescriptor, eventMask, queue)
    }
}

/// Retries, because the number of inotify instances of a user is limited, and those of ended
/// sources are closed a little later. The real sources have no such limit.
private func makeInotify() -> Int32 {
    for _ in 0..<10_000 {
        let inotify = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        if inotify >= 0 { return inotify }
        usleep(1_000)
    }
    fatalError("there is no room for another watch")
}

/// Watches the file of the descriptor with `inotify`.
private final class FileSystemSource: DispatchSourceFileSystemObject, @unchecked Sendable {
    private let inotify = makeInotify()
    private let source: any DispatchSourceRead
    private let wanted: DispatchSource.FileSystemEvent
    private let descriptor: Int32
    private let lock = NSLock()
    // Accessed only while the lock is held.
    private var events: DispatchSource.FileSystemEvent = []
    private var isActive = false

    init(_ descriptor: Int32, _ wanted: DispatchSource.FileSystemEvent, _ queue: DispatchQueue?) {
        self.wanted = wanted
        source = DispatchSource.makeReadSource(fileDescriptor: inotify, queue: queue)
        self.descriptor = descriptor
        setRegistrationHandler(handler: nil)
    }

    /// Called when the source is registered. Earlier events are lost.
    private func begin() {
        let mask =
            IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
        let added = inotify_add_watch(inotify, "/proc/self/fd/\(descriptor)", UInt32(mask))
        precondition(added >= 0, "the descriptor \(descriptor) cannot be watched")
    }

    deinit {
        // Like the real one, a source that was never resumed must not be released.
        precondition(isActive, "released a source that was not resumed")
    }

    var data: DispatchSource.FileSystemEvent { lock.withLock { events } }

    private func take() -> Bool {
        var taken: DispatchSource.FileSystemEvent = []
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
            while true {
                let count = read(inotify, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                var offset = 0
                while offset < count {
                    let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                    let names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
                    if event.mask & UInt32(IN_MODIFY | names) != 0 { taken.insert(.write) }
                    // Linux reports a change of the link count when the last name is removed.
                    if event.mask & UInt32(IN_ATTRIB) != 0 { taken.formUnion([.attrib, .link, .delete]) }
                    if event.mask & UInt32(IN_DELETE_SELF) != 0 { taken.insert(.delete) }
                    if event.mask & UInt32(IN_MOVE_SELF) != 0 { taken.insert(.rename) }
                }
            }
        }
        return lock.withLock {
            events = taken.intersection(wanted)
            return !events.isEmpty
        }
    }

    func setRegistrationHandler(handler: (@Sendable () -> Void)?) {
        source.setRegistrationHandler { [weak self] in
            guard let self, !source.isCancelled else { return }
            begin()
            handler?()
        }
    }
    func setEventHandler(handler: (@Sendable () -> Void)?) {
        source.setEventHandler { [weak self] in if self?.take() == true { handler?() } }
    }
    func setCancelHandler(handler: (@Sendable () -> Void)?) {
        // Keep the descriptor of the watch open until the source has ended.
        source.setCancelHandler { [inotify] in
            close(inotify)
            handler?()
        }
    }
    func resume() {
        lock.withLock { isActive = true }
        source.resume()
    }
    func cancel() { source.cancel() }
}
