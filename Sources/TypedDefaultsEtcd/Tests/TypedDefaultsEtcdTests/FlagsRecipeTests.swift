import Testing
import TypedDefaults
import TypedDefaultsEtcd

private func openFlags(at endpoints: [String]) throws -> DefaultsSuite {
    DefaultsSuite(backend: try EtcdBackend(EtcdConfiguration(endpoints: endpoints, prefix: "shop/")))
}

func openFlagsOrDefaults(at endpoints: [String]) -> DefaultsSuite {
    do { return try openFlags(at: endpoints) } catch {
        print("flags: this process uses the defaults: \(error)")
        return .inMemory()
    }
}

/// The code of the article *Feature flags for a fleet*. `.ci/readme` compares the two.
struct FlagsRecipeTests {
    @Test func aServerThatStartsWithTheDefaultsSaysSo() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let flags = openFlagsOrDefaults(at: ["https://"])
            try #require(!flags[DefaultKey("newCheckout", default: false)])
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output.contains("flags: this process uses the defaults: unavailable: an endpoint is not an address"))
    }
}
