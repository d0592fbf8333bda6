import Foundation
import TestSupport
import Testing
import TypedDefaults

struct UserDefaultTests {
    struct Settings: Sendable {
        @UserDefault var launchCount: Int
        @UserDefault var nickname: String?
        @UserDefault var title: String?

        init(in suite: DefaultsSuite) {
            _launchCount = UserDefault(wrappedValue: 9, "launchCount", in: suite)
            _nickname = UserDefault("nickname", in: suite)
            _title = UserDefault(wrappedValue: "none", "title", in: suite)
        }
    }

    private static let shared = DefaultsSuite.inMemory()
    struct First { @UserDefault("number", in: UserDefaultTests.shared) var number = 10 }
    final class Second { @UserDefault("number", in: UserDefaultTests.shared) var number = 10 }
    actor Third {
        @UserDefault("number", in: UserDefaultTests.shared) var number = 10
        func add(_ count: Int) throws { try $number.update { $0 += count } }
    }
    @MainActor enum Fourth {
        @UserDefault("number", in: UserDefaultTests.shared) static var number = 10
        static let constant = UserDefault("number", default: 10, in: shared)
    }

    @Test @MainActor func oneKeyHasOneValueEverywhere() async throws {
        try Self.shared.removeAll()
        @UserDefault("number", in: Self.shared) var local = 10
        let (first, second, third) = (First(), Second(), Third())
        first.number = 20
        #expect(second.number == 20)
        second.number += 1
        try await third.add(1)
        Fourth.number += 1
        Fourth.constant.value += 1
        local += 1
        #expect(first.number == 25)
        let (atAnyThread, sum) = await Task.detached { (UserDefault("number", default: 10, in: Self.shared).value, 25) }
            .value
        #expect(atAnyThread == sum)
    }

    @Test func theProjectedValueIsTheSetting() throws {
        let suite = DefaultsSuite.inMemory()
        let settings = Settings(in: suite)
        let setting = settings.$launchCount
        #expect(!setting.isSet)
        #expect(try setting.update { $0 += 1 } == ())
        #expect(setting.isSet)
        #expect(setting.value == 10)
        setting.value = 3
        #expect(settings.launchCount == 3)
        #expect(setting.store.get() == 3)
        setting.store.set(4)
        #expect(settings.launchCount == 4)
        setting.reset()
        #expect(!setting.isSet)
        #expect(settings.launchCount == 9)
        #expect(setting.store.get() == nil)
        #expect(setting.key.name == "launchCount")
    }

    @Test func valuesBeginWithTheDefault() async {
        let setting = UserDefault("number", default: 1, in: .inMemory())
        var values = setting.values.makeAsyncIterator()
        #expect(await values.next() == 1)
        setting.value = 2
        #expect(await values.next() == 2)
        setting.reset()
        #expect(await values.next() == 1)
    }

    @Test @MainActor func observersOnTheMainActorReceiveChanges() async {
        let setting = UserDefault("number", default: 1, in: .inMemory())
        let (received, continuation) = AsyncStream.makeStream(of: Int?.self)
        let token = setting.observeOnMainActor(initial: true) { continuation.yield($0.newValue) }
        setting.value = 2
        var iterator = received.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        #expect(await iterator.next() == 2)
        token.cancel()
    }

    @Test func readingIsTracked() {
        let suite = DefaultsSuite.inMemory()
        let (first, second) = (Settings(in: suite), Settings(in: suite))
        let fired = Guarded(0)
        fired.track { _ = (first.launchCount, first.$nickname.isSet) }
        second.title = "captain"
        #expect(fired.withLock { $0 } == 0)
        second.nickname = "kai"
        #expect(fired.withLock { $0 } == 1)
    }
}

/// Behavior of storing property wrappers that may surprise.
struct UserDefaultSurprisesTests {
    private static let suite = DefaultsSuite.inMemory()

    struct Memberwise { @UserDefault("memberwise", in: UserDefaultSurprisesTests.suite) var number = 9 }
    @Test func aMemberwiseInitialiserChangesTheDefaultAndStoresNothing() throws {
        let holder = Memberwise(number: 5)
        #expect(holder.number == 5)
        #expect(!holder.$number.isSet)
    }

    struct Writing {
        @UserDefault("written", in: UserDefaultSurprisesTests.suite) var number = 9
        init() { number = 3 }
    }
    @Test func anAssignmentInAnInitialiserStoresEachTime() {
        Writing().number = 7
        #expect(UserDefault("written", default: 9, in: Self.suite).value == 7)
        _ = Writing()
        #expect(UserDefault("written", default: 9, in: Self.suite).value == 3)
    }
}
