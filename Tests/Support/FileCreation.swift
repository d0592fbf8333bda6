#if os(Linux)
    package import Foundation
    import Testing

    /// Notices that any process creates a file in a folder.
    package final class FileCreation {
        private let descriptor: Int32

        package init(in folder: URL) throws {
            descriptor = inotify_init1(0x8_0800)
            let creation: UInt32 = 0x100
            try #require(inotify_add_watch(descriptor, folder.path, creation) >= 0)
        }

        deinit { close(descriptor) }

        /// Returns whether a file was created, within ten seconds.
        package func wait() -> Bool {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return Foundation.poll(&poll, 1, 10_000) == 1
        }
    }
#endif
