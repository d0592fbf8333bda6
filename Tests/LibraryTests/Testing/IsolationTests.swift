import Dispatch
import Foundation
import TestSupport
import Testing
import TypedDefaults
import TypedDefaultsTesting

private enum Settings {
    static let volume = UserDefault("isolation.volume", default: 1)
    static let camera = AnyStore<CameraConfig>.persistent()
}

private struct Model {
    @UserDefault("isolation.zoom") var zoom = 1.0
}

@Suite(.isolatedDefaults)
struct IsolationTests {
    private static let model = Model()

    @Test(arguments: 1...50) func eachTestHasItsOwnStandardSuite(number: Int) async throws {
        #expect(Settings.volume.value == 1)
        #expect(Self.model.zoom == 1)
        #expect(Settings.camera.get() == nil)
        #expect(try DefaultsSuite.standard.keys() == [])
        Settings.volume.value = number
        Self.model.zoom = Double(number)
        Settings.camera.set(CameraConfig(size: .small))
        await Task.yield()
        #expect(await Task { Settings.volume.value }.value == number)
        #expect(Self.model.zoom == Double(number))
        #expect(try DefaultsSuite.standard.keys().count == 3)
    }
}

#if os(macOS) || os(Linux)
    /// Each test runs in a process of its own, because the isolation lasts until the end of the
    /// process.
    @Suite(.collectsIssues, .ownThreads) struct QuarantineTests {
        enum Check: String, CaseIterable, Codable {
            case anotherThreadSharesASuiteInMemory
            case whatWasReadBeforeIsProtectedToo
            case aScopeIsProtectedToo

            func run() async throws {
                switch self {
                case .anotherThreadSharesASuiteInMemory: try await QuarantineTests.anotherThreadSharesASuiteInMemory()
                case .whatWasReadBeforeIsProtectedToo: try await QuarantineTests.whatWasReadBeforeIsProtectedToo()
                case .aScopeIsProtectedToo: try await QuarantineTests.aScopeIsProtectedToo()
                }
            }

            /// The keys that are recorded; `nil` for the suite itself.
            var expected: [String?] {
                switch self {
                case .anotherThreadSharesASuiteInMemory: ["isolation.volume", "isolation.zoom", nil]
                case .whatWasReadBeforeIsProtectedToo: ["isolation.volume"]
                case .aScopeIsProtectedToo: ["user/isolation.volume"]
                }
            }
        }

        @Test(.ownFile, arguments: Check.allCases)
        func useOutsideOfATestIsRecordedWithItsKey(check: Check) async throws {
            let issues = await CollectedIssues.awaiting {
                await #expect(processExitsWith: .success) { [folder = ownFolder as String, check = check as Check] in
                    unsetenv("TYPED_DEFAULTS_STANDARD")
                    setenv("XDG_CONFIG_HOME", folder, 1)
                    try await check.run()
                }
            }
            let texts = Set(issues.map(\.text))
            #expect(texts.allSatisfy { $0.contains("was used outside of an isolated test") })
            #expect(texts.count == check.expected.count)
            for key in check.expected {
                let start = key.map { "“\($0)” of the standard suite was" } ?? "The standard suite was"
                #expect(texts.count { $0.hasPrefix(start) } == 1)
            }
        }

        private static func onAnotherThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result
        {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: body()) }
            }
        }

        /// The settings files of the process, which Foundation finds without the suite.
        private static func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"]!)
        }

        private static func anotherThreadSharesASuiteInMemory() async throws {
            let isInside = await withIsolatedDefaults {
                await onAnotherThread { for number in 2...9 { Settings.volume.value = number } }
                return await Task.detached { Settings.volume.value == 9 && Model().zoom == 1 }.value
                    && Settings.volume.value == 1
            }
            #expect(isInside)
            // After the test as well.
            #expect(Settings.volume.value == 9)
            #expect(try DefaultsSuite.standard.keys() == ["isolation.volume"])
            #expect(try files() == [])
        }

        private static func whatWasReadBeforeIsProtectedToo() async throws {
            Settings.volume.value = 3
            try DefaultsSuite.standard.synchronize()
            let before = try files()
            let bytes = try Data(contentsOf: URL(filePath: DefaultsSuite.standard.location!))
            #expect(before.count == 1)
            await withIsolatedDefaults {
                #expect(Settings.volume.value == 1)
                #expect(await Task.detached { Settings.volume.value }.value == 1)
                await Task.detached { Settings.volume.value = 4 }.value
            }
            let path = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"]! + "/" + before[0]
            #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
        }

        private static func aScopeIsProtectedToo() async throws {
            await withIsolatedDefaults {
                await Task.detached {
                    DefaultsSuite.standard.scoped("user/")[DefaultKey("isolation.volume", default: 1)] = 2
                }.value
            }
            #expect(try files() == [])
        }

        /// The variable is inherited by the process of an exit test.
        @Test(.isolatedDefaults) func theProcessOfAnExitTestIsIsolated() async {
            await #expect(processExitsWith: .success) {
                Settings.volume.value = 2
                #expect(DefaultsSuite.standard.location == nil)
            }
        }

        @Test(.isolatedDefaults, .ownFile) func anIsolatedTestMayNameTheStandardSuite() async throws {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                unsetenv("TYPED_DEFAULTS_STANDARD")
                setenv("XDG_CONFIG_HOME", folder, 1)
                withIsolatedDefaults {
                    DefaultsSuite.standardName = "cam"
                    DefaultsSuite.standardName = "cam"
                    #expect(DefaultsSuite.standardName == "cam")
                    Settings.volume.value = 2
                }
                let files = try QuarantineTests.files()
                #expect(files == [])
            }
        }

        @Test(.ownFile) func anEnvironmentVariableKeepsTheStandardSuiteInMemory() async throws {
            await #expect(processExitsWith: .success) { [folder = ownFolder as String] in
                unsetenv("TYPED_DEFAULTS_STANDARD")
                setenv("XDG_CONFIG_HOME", folder, 1)
                setenv("TYPED_DEFAULTS_STANDARD", "memory", 1)
                Settings.volume.value = 2
                #expect(await Task.detached { Settings.volume.value }.value == 2)
                #expect(DefaultsSuite.standard.location == nil)
                #expect(DefaultsSuite.standard.layers.count == 2)
                let files = try QuarantineTests.files()
                #expect(files == [])
                withIsolatedDefaults { #expect(Settings.volume.value == 1) }
            }
        }
    }
#endif
