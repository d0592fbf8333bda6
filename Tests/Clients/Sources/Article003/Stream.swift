import Foundation
import TypedDefaultsRecipes

func showStream() {
    let observation = PlayerDefaults.observe(forKey: .stream) { _, change in
        print(change.newValue?.absoluteString ?? "-")
    }
    PlayerDefaults.set(URL(string: "https://radio.example"), forKey: .stream)  // => https://radio.example
    print(PlayerDefaults.url(forKey: .stream)?.host ?? "-")  // => radio.example
    observation.invalidate()
    PlayerDefaults.remove(for: .stream)
    print(PlayerDefaults.url(forKey: .stream) == nil)  // => true
    let fake = UserDefaultsFake()
    fake.set(URL(string: "https://radio.example"), forKey: "stream")
    fake.set(Data([1, 2]), forKey: "data")
    print(fake.url(forKey: "stream")!.absoluteString, fake.data(forKey: "data")!.count)  // => https://radio.example 2
}
