#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import SettingsFile
    @testable import TypedDefaults

    /// Tests what happens to the folder at a certain moment of a compaction or creation. The system
    /// reports that moment on Linux only.
    struct ConcurrentCompactionTests: SettingsFileTests {
        @Test func recreatingTheFileSurvivesAConcurrentCompaction() throws {
            var lost = 0
            for _ in 0..<50 {
                try withFile { file in
                    let old = FileBackend(path: file.path)
                    for _ in 0..<6 { try old.write([("filler", .data(Data(count: 20_000)))]) }
                    let creation = try FileCreation(in: file.deletingLastPathComponent())
                    let group = DispatchGroup()
                    DispatchQueue.global().async(group: group) {
                        #expect(throws: Never.self) { try old.synchronize() }
                    }
                    #expect(creation.wait(), "the file is compacted")
                    try? FileManager.default.removeItem(at: file)
                    let new = UserDefault(number, in: open(file)).store
                    #expect(throws: Never.self) { try new.save(31) }
                    group.wait()
                    if new.get() != 31 { lost += 1 }
                }
            }
            #expect(lost == 0)
        }
    }
#endif
