// Measures the library, the lower limits and other stores in one run, in turn.
// usage: Benchmarks [--short] [TITLE]
//   --short  measures each row briefly, to show that it works
//   TITLE    only the rows whose titles begin with this

import Foundation

if try Child.runMode() { exit(0) }
for argument in CommandLine.arguments.dropFirst() {
    if argument == "--short" { Run.isShort = true } else { Run.prefix = argument }
}
try compareReading()
try compareReadingOnThreads()
try compareReadingMany()
try compareReadingExternalChanges()
try compareWriting()
compareCommitting()
try compareWritingDurably()
try compareOpening()
Files.removeAll()
