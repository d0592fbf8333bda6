public import TypedDefaults

extension StoreWorld {
    /// Checks a view model in this world.
    ///
    /// The model is made, and acts. Then another process changes one property after the other. The
    /// test fails if:
    ///
    /// - creating the model stored something;
    /// - the action changes other properties than it does in memory, or stores properties that it
    ///   does not change;
    /// - a value of other code, of another release or of another process is lost, or one that
    ///   cannot be read is overwritten without a copy;
    /// - the action throws, and has changed something;
    /// - a write fails, and the model neither throws nor reports it;
    /// - the model does not show what is stored.
    ///
    /// `make` makes the model with the store of this world, and `act` does what changes settings.
    /// Both run several times. `shows` returns whether the model shows a config. `reports` returns
    /// whether the model tells the user that a write has failed; leave it out if the action throws,
    /// or if the failure handler of the suite is enough.
    public func check<Model>(
        _ make: (AnyStore<Config>) throws -> Model, act: (Model) async throws -> Void,
        shows: (Model, Config) async -> Bool, reports: (Model) async -> Bool = { _ in false },
        isolation: isolated (any Actor)? = #isolation,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) async {
        await check(
            in: { try make(.persistent(in: $0)) }, act: act, shows: shows, reports: reports, fileID: fileID,
            filePath: filePath, line: line, column: column)
    }

    /// Checks a model that takes a suite, as the other `check` does with one that takes a store.
    public func check<Model>(
        in make: (DefaultsSuite) throws -> Model, act: (Model) async throws -> Void,
        shows: (Model, Config) async -> Bool, reports: (Model) async -> Bool = { _ in false },
        isolation: isolated (any Actor)? = #isolation,
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) async {
        do {
            let (place, key) = (try WorldPlace(self), DefaultKey(Config.self))
            let stored = "the model does not show what is stored"
            let model: Model
            do { model = try make(place.suite) } catch  where place.isRefusing {
                place.stopRefusing()
                model = try make(place.suite)
            }
            try expect(try place.contents() == contents, "creating the model stored something")
            if place.isRefusing {
                let error = await error { try await act(model) }
                try expect(try place.contents() == contents, "a write failed, and values have changed")
                let isKnown = !place.hasRefused || error != nil
                try await expectSoon("a write failed, and the model neither threw nor reported it") {
                    if isKnown || place.takeFailures() > 0 { true } else { await reports(model) }
                }
                if self.place == .fullDisk {
                    try await expectSoon(stored) { await shows(model, try place.contents()[key]) }
                }
                place.stopRefusing()
            }
            var effect = try await effect(on: contents[key], make, act)
            var before = contents
            let other = Self.chosen.keys.sorted().first { !effect.touched.union(Self.random).contains($0) }
            if self.place == .shared, let other {
                place.interrupt { Self.set(other, to: Self.root[other], in: &$0) }
            }
            let error = await error { try await act(model) }
            let after = try place.contents()
            if self.place == .shared, let other, place.endInterruption() {
                Self.set(other, to: Self.root[other], in: &before)
                // The action may depend on the property, and may have read it before or after.
                let late = try await self.effect(on: before[key], make, act)
                if try Self.differences(before[key], after[key]) == late.touched { effect = late }
            }
            try expect(error == nil || after == before, "the action threw, and has changed values")
            if error == nil { try compare(before, after, effect.touched, isRemoved: effect.isRemoved) }
            try await expectSoon(stored) { await shows(model, try place.contents()[key]) }
            for (name, value) in Self.chosen.sorted(by: { $0.key < $1.key }) {
                let isChosen = try Self.entries(place.contents()[key])[name] == value
                try place.edit { Self.set(name, to: isChosen ? Self.root[name] : value, in: &$0) }
                try await expectSoon("the model does not follow a change to \(name) by another process") {
                    await shows(model, try place.contents()[key])
                }
            }
        } catch {
            let text = (error as? BrokenPromise)?.outcome ?? "the test threw \(error)"
            recordIssue(
                "In the world “\(description)”, \(text).",
                at: CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
        }
    }

    /// Returns the properties that the action changes in memory, and whether it removes the config.
    private func effect<Model>(
        on start: Config, _ make: (DefaultsSuite) throws -> Model, _ act: (Model) async throws -> Void,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> (touched: Set<String>, isRemoved: Bool) {
        let suite = DefaultsSuite.inMemory()
        let store = PersistentStore<Config>(in: suite)
        try store.save(start)
        let model = try make(suite)
        _ = await error { try await act(model) }
        return (try Self.differences(start, store.value), store.get() == nil)
    }

    /// Compares what was stored before and after the action.
    private func compare(
        _ before: SuiteContents, _ after: SuiteContents, _ touched: Set<String>, isRemoved: Bool
    ) throws {
        let key = DefaultKey(Config.self)
        let changed = try Self.differences(before[key], after[key])
        func list(_ names: Set<String>) -> String { names.isEmpty ? "nothing" : names.sorted().joined(separator: ", ") }
        let overwritten = changed.subtracting(touched)
        try expect(
            place != .shared || overwritten.isEmpty,
            "the action overwrites \(list(overwritten)), which another process has just written")
        try expect(changed == touched, "the action changes \(list(changed)), but \(list(touched)) in a suite in memory")
        for (name, value) in before where name != Config.key {
            try expect(after[name] == value, "the action has changed “\(name)”")
        }
        guard !isRemoved else { return }
        let (old, new) = (before[Config.key], after[Config.key]?.entries ?? [:])
        let (entries, faults) = (old?.entries ?? [:], old.map(key.faults(in:)) ?? [])
        let isCopied = after.contains { $0.key.hasPrefix("\(Config.key).unreadable") && $0.value == old }
        let lost = Set(entries.keys).filter { name in
            new[name] != entries[name] && (!touched.contains(name) || faults.contains { $0.path.first == name })
        }
        try expect(isCopied || lost.isEmpty, "the action loses \(list(lost)), without a copy")
        let isKept = old == nil || old?.entries != nil || after[Config.key] == old
        try expect(isCopied || isKept, "the action loses what it cannot read, without a copy")
        // The library always stores a default that is random.
        let stored = Set(new.keys).subtracting(entries.keys).subtracting(touched).subtracting(Self.random)
        try expect(
            stored.isEmpty,
            "the action stores \(list(stored)), which it did not change, so later defaults have no effect")
    }

    private func expectSoon(
        _ outcome: String, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(5)
        while !(try await condition()) {
            try expect(.now < end, outcome)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private func error(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
    ) async -> (any Error)? {
        do { try await body() } catch { return error }
        return nil
    }

    /// The properties whose defaults differ, such as identifiers.
    private static var random: Set<String> { Set(DefaultKey(Config.self).pinned?.entries?.keys.map { $0 } ?? []) }

    private static var root: [String: PropertyList] { (try? entries(Config())) ?? [:] }

    private static func entries(_ config: Config) throws -> [String: PropertyList] {
        try PropertyList(config.serialize()).entries ?? [:]
    }

    /// Returns the properties in which two configs differ.
    private static func differences(_ one: Config, _ other: Config) throws -> Set<String> {
        let (one, other) = (try entries(one), try entries(other))
        return Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }
    }

    private static func set(_ name: String, to value: PropertyList?, in contents: inout SuiteContents) {
        var entries = contents[Config.key]?.entries ?? [:]
        entries[name] = value
        contents[Config.key] = .dictionary(entries)
    }
}
