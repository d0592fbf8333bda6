#if os(Linux)
    package import Foundation
    import Testing

    /// Counts the events of a file or of the names in a folder, which any process may cause.
    ///
    /// The system merges equal events in a row, so an opening is counted together with its end.
    package final class FileActivity {
        /// What to count.
        package enum Event: UInt32 {
            case open = 0x20
            case creation = 0x100
        }

        private let event: Event
        private let descriptor: Int32
        private var counted = 0

        package init(_ event: Event, _ url: URL) throws {
            self.event = event
            descriptor = inotify_init1(0x8_0800)
            let (closeWritten, closeUnwritten) = (0x8, 0x10) as (UInt32, UInt32)
            try #require(inotify_add_watch(descriptor, url.path, event.rawValue | closeWritten | closeUnwritten) >= 0)
        }

        deinit { close(descriptor) }

        /// The number of events so far.
        package var count: Int {
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = read(descriptor, &bytes, bytes.count)
                guard count > 0 else { return counted }
                var offset = 0
                while offset < count {
                    let (mask, length) = bytes.withUnsafeBytes { bytes in
                        (
                            bytes.load(fromByteOffset: offset + 4, as: UInt32.self),
                            bytes.load(fromByteOffset: offset + 12, as: UInt32.self)
                        )
                    }
                    if mask & event.rawValue != 0 { counted += 1 }
                    offset += 16 + Int(length)
                }
            }
        }

        /// Waits for a number of events.
        ///
        /// - Parameter isPossible: Whether more events can follow.
        /// - Returns: Whether there were that many within ten seconds.
        package func wait(for expected: Int, while isPossible: () -> Bool = { true }) -> Bool {
            let end = ContinuousClock.now + .seconds(10)
            while count < expected, isPossible(), ContinuousClock.now < end {
                var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = Foundation.poll(&poll, 1, 100)
            }
            return count >= expected
        }
    }
#endif
