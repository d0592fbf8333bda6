// Compares the stores and the coder with the lower limit, Foundation and SQLite, in one run:
//
//     swift run -c release --package-path Benchmarks
//
// The nanoseconds depend on the machine. The library promises the ratios.

import Foundation

if try Child.runMode() { exit(0) }
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
try compareReadingExternalChanges()
try compareOpening()
try compareFirstGet()
try compareHeap()
UserDefaults.removeDomains()
try FileManager.default.removeItem(at: Place.folder)
