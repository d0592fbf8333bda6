import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import Testing
import TypedDefaults

@testable import TypedDefaultsEtcd

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#endif

extension DefaultKey where Value == Int {
    fileprivate static var count: DefaultKey { DefaultKey("count", default: 0) }
}

@Suite(Member.isRunning) struct MemberTests {
    let prefix = Member.prefix()

    @Test func valuesAreJSON() throws {
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        try suite.update { contents in
            contents["flags"] = ["dark": true, "ratio": 0.5]
            contents["name"] = "Änne"
        }
        #expect(try Member.get(prefix + "v/flags") == #"{"dark": true, "ratio": 0.5}"#)
        #expect(try Member.get(prefix + "v/name") == #""Änne""#)
    }

    @Test func textThatIsNoJSONIsUnreadableAndStays() throws {
        let backend = try Member.backend(prefix)
        let suite = DefaultsSuite(backend: backend)
        let failures = NIOLockedValueBox<[DefaultsError]>([])
        suite.onFailure = { error in failures.withLockedValue { $0.append(error) } }
        try Member.put(prefix + "v/count", "seven")
        try eventually { try backend.keys() == ["count"] }
        #expect(suite[.count] == 0)
        #expect(failures.withLockedValue { $0.map(\.kind) } == [.unreadable])
        #expect(failures.withLockedValue { $0.contains { "\($0)".contains("seven") } } == false)
        let error = #expect(throws: DefaultsError.self) { try UserDefault(.count, in: suite).store.save(1) }
        #expect(error?.kind == .unreadable)
        #expect(try Member.get(prefix + "v/count") == "seven")
        UserDefault(.count, in: suite).reset()
        try UserDefault(.count, in: suite).store.save(1)
        #expect(try Member.get(prefix + "v/count") == "1")
    }

    /// The message says what is wrong, and asks for quotes only where they may be missing.
    @Test(arguments: [
        ("seven", "a value is missing; text needs quotes"), ("", "unexpected end; text needs quotes"),
        ("01067", "a number must not start with 0; text needs quotes"),
        ("true or false", "after the end; text needs quotes"),
        (#"{"a": 1"#, "“,” or “}” is missing"), (#""seven"#, "a string does not end"),
        (#"{"a": 1, "a": 2}"#, "a key occurs twice"), ("18446744073709551616", "an integer beyond 64 bits"),
        ("[1e999]", "a number too large for a double"), ("null", "property lists have no null"),
    ]) func theMessageSaysWhyAValueCannotBeRead(_ text: String, _ reason: String) throws {
        let backend = try Member.backend(prefix)
        try Member.put(prefix + "v/count", text)
        try eventually { try backend.keys() == ["count"] }
        let error = #expect(throws: DefaultsError.self) { try backend.value(forKey: "count") }
        #expect(error?.kind == .unreadable)
        #expect(error?.reason.hasSuffix(reason) == true, "\(error?.reason ?? "")")
        #expect(error?.reason.contains("not JSON") == false)
    }

    @Test func keysThatAreNotUTF8AreIgnored() throws {
        let backend = try Member.backend(prefix)
        let bytes = Array((prefix + "v/").utf8) + [0xFF, 0xFE]
        let gateway = Member.gateway()
        _ = try gateway.call(
            EtcdRequest(method: "/v3/kv/put", body: json(Operation.Put(key: base64(bytes), value: base64("1".utf8)))),
            at: 0, within: .seconds(5)
        ).wait()
        try Member.put(prefix + "v/a", "1")
        try eventually { try backend.keys() == ["a"] }
    }

    @Test func changesAndRemovalsByOthersArrive() throws {
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        let heard = NIOLockedValueBox<[Int?]>([])
        let token = UserDefault(.count, in: suite).store.observe { change in
            heard.withLockedValue { $0.append(change.newValue) }
        }
        defer { token.cancel() }
        try Member.put(prefix + "v/count", "4")
        try eventually { heard.withLockedValue { $0 } == [4] }
        // The same value once more is no change.
        try Member.put(prefix + "v/count", "4")
        try Member.delete(prefix + "v/count")
        try eventually { heard.withLockedValue { $0 } == [4, nil] }
        #expect(suite[.count] == 0)
    }

    @Test(arguments: [true, false]) func anUpdateIsRepeatedIfAnotherProgramWasFaster(_ isRemoval: Bool) throws {
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        try UserDefault(.count, in: suite).update { $0 = 1 }
        var bodies = 0
        try UserDefault(.count, in: suite).update { count in
            bodies += 1
            count += 1
            guard bodies == 1 else { return }
            if isRemoval { try Member.delete(prefix + "v/count") } else { try Member.put(prefix + "v/count", "10") }
        }
        #expect(bodies == 2)
        #expect(suite[.count] == (isRemoval ? 1 : 11))
    }

    /// A suite is one value: another machine's commit of another key counts, too.
    @Test func anUpdateIsRepeatedIfAnotherMachineWasFaster() throws {
        let (suite, other) = (
            DefaultsSuite(backend: try Member.backend(prefix)), DefaultsSuite(backend: try Member.backend(prefix))
        )
        for (key, value) in [("0", 1), ("1", 1), ("0", nil)] as [(String, PropertyList?)] {
            var bodies = 0
            try suite.update { contents in
                contents["sum"] = .integer(.init(contents.count { $0.key != "sum" }))
                bodies += 1
                if bodies == 1 { try other.update { $0[key] = value } }
            }
            #expect(bodies == 2)
        }
        #expect(try suite.contents() == ["1": 1, "sum": 1])
    }

    @Test func writesOfOtherSuitesDoNotDisturb() throws {
        let backend = try Member.backend(prefix)
        let suite = DefaultsSuite(backend: backend)
        let others = [prefix + "a/", String(prefix.dropLast())]
        for round in 1...3 {
            try UserDefault(.count, in: suite).update { count in
                count += 1
                for other in others { try Member.put(other + "v/count", "\(100 + round)") }
                // Nor does another key of the same suite.
                try Member.put(prefix + "v/other", "\(round)")
            }
        }
        #expect(suite[.count] == 3)
        #expect(backend.state.withLockedValue { $0.statistics.conflicts } == 0)
        try eventually { try backend.keys().sorted() == ["count", "other"] }
    }

    @Test func whatIsTooLargeIsRefused() throws {
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        for count in [1_600_000, 2_500_000] {
            let text = String(repeating: "x", count: count)
            let error = #expect(throws: DefaultsError.self) { try suite.update { $0["large"] = .string(text) } }
            #expect(error?.kind == .refused)
            #expect(error?.reason.contains("1.5 MiB") == true)
        }
        try suite.update { $0["large"] = .string(String(repeating: "x", count: 1_400_000)) }
        // A line of the watch of almost 2 MB, in many parts.
        let other = DefaultsSuite(backend: try Member.backend(prefix))
        try suite.update { $0["large"] = .string(String(repeating: "y", count: 1_400_000)) }
        try eventually { try other.contents()["large"]?.json().starts(with: "\"y".utf8) == true }
    }

    @Test func tooManyEditsAreRefused() throws {
        let suite = DefaultsSuite(backend: try Member.backend(prefix))
        func change(_ count: Int) throws {
            try suite.update { contents in for number in 0..<count { contents["\(number)"] = true } }
        }
        try change(127)
        #expect(try suite.keys().count == 127)
        try suite.removeAll()
        #expect(try suite.keys().isEmpty)
        let error = #expect(throws: DefaultsError.self) { try change(128) }
        #expect(error?.kind == .refused)
        #expect(error?.reason.contains("128") == true)
        #expect(try suite.keys().isEmpty)
    }

    /// Each backend begins with a random member.
    @Test func aMemberThatDoesNotRunIsLeft() throws {
        var configuration = Member.configuration(prefix)
        configuration.endpoints.insert("127.0.0.1:1", at: 0)
        for round in 1...8 {
            let suite = DefaultsSuite(backend: try EtcdBackend(configuration))
            try UserDefault(.count, in: suite).update { $0 += 1 }
            #expect(suite[.count] == round)
        }
    }

    @Test func aClosedBackendThrows() throws {
        let backend = try Member.backend(prefix)
        let suite = DefaultsSuite(backend: backend)
        suite.onFailure = { _ in }
        try UserDefault(.count, in: suite).update { $0 = 1 }
        backend.close()
        #expect(throws: DefaultsError.self) { try UserDefault(.count, in: suite).store.load() }
        #expect(throws: DefaultsError.self) { try UserDefault(.count, in: suite).store.save(2) }
    }

    @Test func aBackendEndsWithItsSuite() throws {
        weak var old: EtcdBackend?
        do {
            let backend = try Member.backend(prefix)
            old = backend
            let suite = DefaultsSuite(backend: backend)
            try UserDefault(.count, in: suite).update { $0 = 1 }
        }
        try eventually { old == nil }
    }

    #if canImport(Glibc)
        /// The threads for etcd are missing there, so each call would never return.
        @Test func aForkedChildWritesNothing() throws {
            let backend = try Member.backend(prefix)
            try UserDefault(.count, in: DefaultsSuite(backend: backend)).update { $0 = 1 }
            // Swift does not import it, because a child of a process with threads may call only few
            // functions.
            let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
            let child = fork()
            if child == 0 {
                // Ends it even if its thread blocks signals.
                var all = sigset_t()
                sigfillset(&all)
                sigprocmask(SIG_UNBLOCK, &all, nil)
                alarm(10)
                var faults: CInt = 0
                if (try? backend.write {}) != nil { faults |= 1 }
                if (try? Member.backend(prefix)) != nil { faults |= 2 }
                _exit(faults)
            }
            var status: CInt = -1
            waitpid(child, &status, 0)
            #expect(status == 0)
        }
    #endif
}
