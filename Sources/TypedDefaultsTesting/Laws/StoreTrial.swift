import TypedDefaults

/// The input to the check of a law: a store, with its values replaced by their positions among the
/// samples.
struct StoreTrial: Sendable {
    let trial: Trial
    /// The store itself.
    let store: any DefaultStoreType<Sample>
    let samples: [Sample]
    /// The texts that must not occur in descriptions.
    let texts: @Sendable () -> [String]
    let descriptions: @Sendable () -> [String]
    /// Returns a second store on the same storage.
    let reopen: @Sendable () throws -> any DefaultStoreType<Sample>

    var first: Sample { samples[0] }
    var second: Sample { samples.first { $0 != first }! }
}

/// The position of a value among the samples; `nil` for a value that is not one of them.
struct Sample: Sendable, Equatable, CustomStringConvertible {
    let index: Int?
    var description: String { index.map { "sample \($0 + 1)" } ?? "a value that was never stored" }
}

/// A store that shows the values of another one as samples.
struct SampleStore<Base: DefaultStoreType>: DefaultStoreDecorator where Base.Default: Equatable {
    typealias Default = Sample
    let base: Base
    let samples: [Base.Default]

    func value(from stored: Base.Default) -> Sample { Sample(index: samples.firstIndex(of: stored)) }
    func stored(from value: Sample) -> Base.Default { samples[value.index!] }

    /// Shows the store what the body has done, even if it throws. A decorator would not.
    @discardableResult
    func updateStored<Result>(_ body: (inout Sample?) throws -> Result) throws -> Result {
        try base.updateStored { stored in
            var value = stored.map(value(from:))
            defer { stored = value.map(self.stored(from:)) }
            return try body(&value)
        }
    }

    /// The same for an update with a default.
    @discardableResult
    func update<Result>(
        default defaultValue: @autoclosure () -> Sample, _ body: (inout Sample) throws -> Result
    ) throws -> Result {
        try base.update(default: stored(from: defaultValue())) { stored in
            var value = value(from: stored)
            // A value that is no sample was not set by the body.
            defer { if value.index != nil { stored = self.stored(from: value) } }
            return try body(&value)
        }
    }

    /// Reports every change. A decorator would leave out those to an equal value.
    func observe(initial: Bool, _ handler: @escaping @Sendable (DefaultChange<Sample>) -> Void) -> ObservationToken {
        base.observe(initial: initial) { change in
            handler(
                DefaultChange(
                    oldValue: change.oldValue.map(value), newValue: change.newValue.map(value), kind: change.kind,
                    origin: change.origin))
        }
    }
}

/// Returns the texts inside values that are long enough not to occur by chance.
func texts(of values: some Sequence) -> [String] {
    func collect(_ value: Any, _ depth: Int, into texts: inout Set<String>) {
        if let text = value as? String { texts.insert(text) }
        if depth < 8 {
            for child in Mirror(reflecting: value).children { collect(child.value, depth + 1, into: &texts) }
        }
    }
    var texts: Set<String> = []
    for value in values {
        texts.insert("\(value)")
        collect(value, 0, into: &texts)
    }
    return texts.filter { $0.utf8.count >= 6 }
}
