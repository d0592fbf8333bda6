// Compares the stores and the coder with the bare limit and with Foundation, in one run:
//
//     swift run -c release --package-path Benchmarks
//
// The nanoseconds belong to one machine and one hour. The ratios are what the library promises.

import Foundation

compareReading()
compareReadingOnThreads()
compareReadingOneOfMany()
compareReadingManyInTurn()
compareReadingWhileWriting()
compareWriting()
compareEncoding()
try compareDecoding()
UserDefaults.removeDomains()
try FileManager.default.removeItem(at: Place.folder)
