// Compares the stores and the coder with the bare limit, Foundation and SQLite, in one run:
//
//     swift run -c release --package-path Benchmarks
//
// The nanoseconds belong to one machine and one hour. The ratios are what the library promises.

import Foundation

if try Child.isOne() { exit(0) }
try FileManager.default.createDirectory(at: Place.folder, withIntermediateDirectories: true)
compareReading()
compareReadingOnThreads()
compareReadingOneOfMany()
compareReadingManyInTurn()
compareReadingWhileWriting()
compareWriting()
compareObservers()
compareDeclaring()
compareEncoding()
try compareDecoding()
try compareCommitting()
try compareSettingWithSQLite()
try compareCommittingDurably()
try compareSavingOnThreads()
try compareReadingNews()
try compareOpening()
try compareFirstGet()
try compareHeap()
UserDefaults.removeDomains()
try FileManager.default.removeItem(at: Place.folder)
